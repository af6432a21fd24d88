/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
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

func TestEnumWithFallback(t *testing.T) {
	got := enumOf(t, "+conversion:enum=Internal:local,External:public,fallback=Internal", []string{"External", "Internal"}, []string{"local", "mesh", "public"})
	want := &Enum{
		Name: "WidgetSpec.F",
		Up: []EnumCase{
			{From: "External", To: "public", Exact: true},
			{From: "Internal", To: "local", Exact: true},
			{From: "local", To: "local"},
			{From: "public", To: "public"}, // come back as Internal and External
		},
		Down:     []EnumCase{{From: "local", To: "Internal", Exact: true}, {From: "public", To: "External", Exact: true}},
		Fallback: "Internal", Kept: []string{""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestEnumWithoutFallbackLetsOthersPass(t *testing.T) {
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

func TestEnumWhereTwoBecomeOne(t *testing.T) {
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
