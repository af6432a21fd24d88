/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

func enumOf(t *testing.T, marker string, olderValues, newerValues []string) *Enum {
	t.Helper()
	plans := planned(t,
		older.with([]*model.Field{field("F", older.named("Exposure", basic("string"), olderValues...), marker)}),
		newer.with([]*model.Field{field("F", newer.named("Visibility", basic("string"), newerValues...))}))
	return plans["F"].Conversion.Elem.Enum
}

func TestEnum_WithFallback_MapsUnknownValues(t *testing.T) {
	got := enumOf(t, "+conversion:enum=Internal:local,External:public,fallback=Internal", []string{"External", "Internal"}, []string{"local", "mesh", "public"})
	want := &Enum{
		Name: "WidgetSpec.F",
		Up: []EnumCase{
			{From: "External", To: "public", Exact: true},
			{From: "Internal", To: "local", Exact: true},
			{From: "local", To: "local"},
			{From: "public", To: "public"}, // return as Internal and External
		},
		Down:     []EnumCase{{From: "local", To: "Internal", Exact: true}, {From: "public", To: "External", Exact: true}},
		Fallback: "Internal", Kept: []string{""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestEnum_WithoutFallback_CopiesUnknownValues(t *testing.T) {
	got := enumOf(t, "+conversion:enum=A:b", []string{"A", "C"}, []string{"C", "b"})
	want := &Enum{
		Name: "WidgetSpec.F",
		Up:   []EnumCase{{From: "A", To: "b", Exact: true}, {From: "b", To: "b"}},
		Down: []EnumCase{{From: "A", To: "A"}, {From: "b", To: "A", Exact: true}},
		Kept: []string{"", "C"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestEnum_TwoValuesBecomeOne_IsPlanned(t *testing.T) {
	got := enumOf(t, "+conversion:enum=A:x,B:x,fallback=B", []string{"A", "B"}, []string{"x"})
	want := &Enum{
		Name:     "WidgetSpec.F",
		Up:       []EnumCase{{From: "A", To: "x"}, {From: "B", To: "x", Exact: true}, {From: "x", To: "x"}},
		Down:     []EnumCase{{From: "x", To: "B", Exact: true}},
		Fallback: "B", Kept: []string{""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestEnum_OfBools_IsPlanned(t *testing.T) {
	versions := func(olderType, newerType *model.Type, marker string) (from, to version) {
		return older.with([]*model.Field{field("F", olderType, marker)}), newer.with([]*model.Field{field("F", newerType)})
	}
	full := newer.named("Insurance", basic("string"), "Full", "None")
	from, to := versions(basic("bool"), full, "+conversion:enum=true:Full,false:None")
	want := &Enum{
		Name: "WidgetSpec.F", OlderBool: true,
		Up:   []EnumCase{{From: "false", To: "None", Exact: true}, {From: "true", To: "Full", Exact: true}},
		Down: []EnumCase{{From: "Full", To: "true", Exact: true}, {From: "None", To: "false", Exact: true}},
	}
	if diff := cmp.Diff(want, planned(t, from, to)["F"].Conversion.Elem.Enum); diff != "" {
		t.Error("(-want +got):", diff)
	}
	for name, test := range map[string]struct {
		older, newer *model.Type
		marker, want string
	}{
		"a bool that is not mapped": {
			basic("bool"), full, "+conversion:enum=true:Full,fallback=false",
			`E10 v1beta1.WidgetSpec.F (bool) → v1.WidgetSpec.F (v1.Insurance): "false" becomes no value of the newer version`,
		},
		"a string that is not mapped": {
			older.named("Transport", basic("string"), "Air", "Sea"), basic("bool"), "+conversion:enum=Air:true,fallback=Air",
			`E10 v1beta1.WidgetSpec.F (v1beta1.Transport) → v1.WidgetSpec.F (bool): "Sea" becomes no value of the newer version`,
		},
		"a newer string without a fallback": {
			basic("bool"), newer.named("Insurance", basic("string"), "Full", "None", "Partial"), "+conversion:enum=true:Full,false:None",
			`E10 v1beta1.WidgetSpec.F (bool) → v1.WidgetSpec.F (v1.Insurance): "Partial" is no value of the older version, and there is no fallback for it`,
		},
		"no bool": {
			basic("bool"), full, "+conversion:enum=yes:Full,true:Full,false:None,fallback=true",
			`E08 v1beta1.WidgetSpec.F (bool) → v1.WidgetSpec.F (v1.Insurance): the enum map has the older value "yes", which the type does not declare`,
		},
		"two bools": {
			basic("bool"), basic("bool"), "+conversion:enum=true:false,false:true",
			`E08 v1beta1.WidgetSpec.F (bool) → v1.WidgetSpec.F (bool): +conversion:enum is at a field that holds neither strings nor bools that become strings`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := versions(test.older, test.newer, test.marker)
			if got := rejected(t, from, to); !strings.HasPrefix(got, test.want) {
				t.Errorf("the problems are\n%s\nwant %s", got, test.want)
			}
		})
	}
}

func TestZeroIsAbsent_OnlyWhereJSONShowsZero(t *testing.T) {
	required := field("F", basic("bool"), "+conversion:zero=absent")
	required.Omit = model.Always
	plans := planned(t, older.with([]*model.Field{required}), newer.with([]*model.Field{field("F", pointer(basic("bool")))}))
	if got := plans["F"].Older.absence(); got != byZero {
		t.Errorf("the field is absent by %d, want %d", got, byZero)
	}
	for name, f := range map[string]*model.Field{
		"left out":  field("F", basic("bool"), "+conversion:zero=absent"),
		"a pointer": {Name: "F", JSON: "f", Type: pointer(basic("bool")), Markers: required.Markers},
		"a list":    {Name: "F", JSON: "f", Type: slice(basic("bool")), Markers: required.Markers},
	} {
		got := rejected(t, older.with([]*model.Field{f}), newer.with([]*model.Field{field("F", f.Type)}))
		if want := "E08 v1beta1.WidgetSpec.F: +conversion:zero is at a field that is no number, text or bool that JSON always shows"; !strings.HasPrefix(got, want) {
			t.Errorf("%s: the problems are\n%s\nwant %s", name, got, want)
		}
	}
}
