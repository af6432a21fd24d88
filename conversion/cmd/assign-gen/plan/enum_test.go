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

// A deprecated name of a value that both versions have is not what the older version shows.
func TestEnum_ValueBecomesOneOfBothVersions_FallbackIsShown(t *testing.T) {
	got := enumOf(t, "+conversion:enum=Borrow:Stop,fallback=Stop", []string{"Borrow", "Next", "Stop"}, []string{"Next", "Stop"})
	for _, each := range got.Down {
		if each.From == "Stop" && each.To != "Stop" {
			t.Errorf("Stop is shown as %s", each.To)
		}
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
			`E08 v1beta1.WidgetSpec.F (bool) → v1.WidgetSpec.F (v1.Insurance): the enum map has the older value "yes", which the type does not declare
    fix: values are false, true`,
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
		"an array":  {Name: "F", JSON: "f", Type: array(2, basic("bool")), Markers: required.Markers},
	} {
		got := rejected(t, older.with([]*model.Field{f}), newer.with([]*model.Field{field("F", f.Type)}))
		if want := "E08 v1beta1.WidgetSpec.F: +conversion:zero is at a field that is no number, text, bool, list or map that JSON always shows"; !strings.HasPrefix(got, want) {
			t.Errorf("%s: the problems are\n%s\nwant %s", name, got, want)
		}
	}
}

// enums are two versions of a field with the values of an enum.
func enums(olderValues, newerValues []string, markers ...string) (from, to version) {
	mode, visibility := older.named("Mode", basic("string"), olderValues...), newer.named("Mode", basic("string"), newerValues...)
	return older.with([]*model.Field{field("F", mode, markers...), field("G", slice(mode), markers...)}, mode),
		newer.with([]*model.Field{field("F", visibility), field("G", slice(visibility))}, visibility)
}

// A value that only one version declares is invalid at the other one, so a marker has to decide about it. One cause is reported once.
func TestEnum_ValueOfOneVersionWithoutMarker_IsAProblem(t *testing.T) {
	for name, test := range map[string]struct {
		olderValues, newerValues []string
		markers                  []string
		want                     string
	}{
		"newer": {
			[]string{"A", "B"},
			[]string{"A", "B", "C"},
			nil,
			`E10 v1beta1.WidgetSpec.F (v1beta1.Mode) → v1.WidgetSpec.F (v1.Mode): "C" is no value of the older version, and there is no fallback for it`,
		},
		"older": {
			[]string{"A", "B"},
			[]string{"A"},
			nil,
			`E10 v1beta1.WidgetSpec.F (v1beta1.Mode) → v1.WidgetSpec.F (v1.Mode): "B" is no value of the newer version, and is not mapped to one
    fix: add +conversion:enum=B:NEW to the field or its type, or +conversion:enum=open if clients of both versions accept any value`,
		},
		"several older": {
			[]string{"A", "D", "E"},
			[]string{"A"},
			nil,
			`"D", "E" are no values of the newer version, and are not mapped to any`,
		},
		"several": {
			[]string{"A"},
			[]string{"A", "D", "E"},
			nil,
			`"D", "E" are no values of the older version, and there is no fallback for them`,
		},
		"older, with a map": {
			[]string{"A", "B"},
			[]string{"A"},
			[]string{"+conversion:enum=fallback=A"},
			`"B" is no value of the newer version, and is not mapped to one
    fix: map it, or add open to +conversion:enum if clients of both versions accept any value`,
		},
		"none, and all are accepted": {
			[]string{"A"},
			[]string{"A"},
			[]string{"+conversion:enum=open"},
			`: both versions declare the same values, or one of them none, so that +conversion:enum=open means nothing
    fix: remove it`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := enums(test.olderValues, test.newerValues, test.markers...)
			got := rejected(t, from, to)
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q", got, test.want)
			}
			if test.markers == nil && strings.Count(got, "E10") != 1 {
				t.Errorf("one cause is reported %d times: %s", strings.Count(got, "E10"), got)
			}
		})
	}
}

// The marker may be at the type, for all fields with it. Values pass unchanged if it is open.
func TestEnum_MarkerOfTheType_DecidesForAllFields(t *testing.T) {
	for _, test := range []struct {
		marker string
		want   map[string]Rule
	}{
		{"+conversion:enum=open", map[string]Rule{"F": Copy, "G": Copy}},
		{"+conversion:enum=fallback=A", map[string]Rule{"F": MapEnum, "G": MapEnum}},
	} {
		from, to := enums([]string{"A", "B"}, []string{"A", "B", "C"})
		from.types[0].Markers = parsed(test.marker)
		got := make(map[string]Rule)
		for name, each := range planned(t, from, to) {
			got[name] = each.Conversion.Elem.Rule
			if diff := cmp.Diff([]string{"C"}, each.Undeclared); test.want["F"] == Copy && diff != "" {
				t.Errorf("%s: undeclared values (-want +got): %s", name, diff)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", test.marker, diff)
		}
	}
	from, to := enums(nil, nil)
	from.types[0].Markers = parsed("+conversion:enum=open")
	const want = "E08 v1beta1.Mode: no field with this type has other values in the next version"
	if got := rejected(t, from, to); !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The map at the type is for fields that it can convert, and functions convert what it cannot.
func TestEnum_MarkerOfTheType_LeavesFunctionsAlone(t *testing.T) {
	const functions = "+conversion:with=Up,Down"
	from, to := enums([]string{"A", "B"}, []string{"A", "B", "C"})
	from.types[0].Markers = parsed("+conversion:enum=fallback=A")
	from.fields[0].Markers = parsed(functions)
	to.fields[0].Type = newer.named("Other", basic("string"), "X", "Y")
	plans := planned(t, from, to)
	if f, g := plans["F"].Conversion.Rule, plans["G"].Conversion.Elem.Rule; f != ByFunctions || g != MapEnum {
		t.Errorf("the rules are %d and %d, want %d and %d", f, g, ByFunctions, MapEnum)
	}
	from.fields[1].Markers = parsed(functions)
	if got := rejected(t, from, to); !strings.HasPrefix(got, "E08 v1beta1.Mode: no field with this type has other values in the next version") {
		t.Errorf("got %s", got)
	}
}

// The schema of a field may list some of the values of its type, and the map at the type names all.
func TestEnum_MarkerOfTheType_NamesValuesOfOtherFields(t *testing.T) {
	from, to := enums([]string{"A", "B", "C"}, []string{"X", "C"})
	from.types[0].Markers = parsed("+conversion:enum=A:X,B:X,fallback=A")
	from.fields[0].Markers = parsed("+kubebuilder:validation:Enum=A;C")
	want := []EnumCase{{From: "A", To: "X", Exact: true}, {From: "X", To: "X"}}
	if diff := cmp.Diff(want, planned(t, from, to)["F"].Conversion.Elem.Enum.Up); diff != "" {
		t.Error("(-want +got):", diff)
	}
	from.types[0].Markers = parsed("+conversion:enum=A:X,D:X,fallback=A")
	if got := rejected(t, from, to); !strings.Contains(got, `the enum map has the older value "D", which the type does not declare`) {
		t.Errorf("got %s", got)
	}
}

// A schema may list the values, at the field or at the type. They count in place of the constants.
func TestEnum_ValuesInTheSchema_Count(t *testing.T) {
	for _, marker := range []string{"+kubebuilder:validation:Enum=A;B", `+kubebuilder:validation:Enum="A";"B"`, "+kubebuilder:validation:Enum={A,B}", `+kubebuilder:validation:Enum={"A", "B"}`} {
		from := older.with([]*model.Field{field("F", basic("string"), marker)})
		to := newer.with([]*model.Field{field("F", newer.named("Mode", basic("string"), "A", "B", "C"))})
		if got := rejected(t, from, to); !strings.Contains(got, `"C" is no value of the older version`) {
			t.Errorf("%s: got %s", marker, got)
		}
		same := newer.with([]*model.Field{field("F", basic("string"), marker)})
		if rule := planned(t, from, same)["F"].Conversion.Elem.Rule; rule != Copy {
			t.Errorf("%s: the rule is %d, want %d", marker, rule, Copy)
		}
	}
}
