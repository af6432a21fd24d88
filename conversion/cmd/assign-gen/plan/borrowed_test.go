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

// shared are a struct of the newer version and one that it holds, neither of which has deep copies yet.
func shared() (spec, part *model.Type) {
	part = newer.own("Part", field("Text", basic("string")))
	return newer.own("Shared", field("Parts", slice(part), "+listType=map", "+listMapKey=text"), field("Mode", newer.named("Mode", basic("string")))), part
}

func TestBorrow_TypesOfTheNewerVersionAreConvertedAsOwn(t *testing.T) {
	spec, part := shared()
	plans := planned(t,
		older.with([]*model.Field{field("F", pointer(spec)), field("Gone", spec, "+conversion:strategy=stash")}),
		newer.with([]*model.Field{field("F", pointer(spec)), field("Gone", slice(basic("string")))}, spec, part))
	conversion := plans["F"].Conversion
	if conversion.Rule != OfPointer || conversion.Elem.Rule != Call {
		t.Fatalf("F is converted by %v of %v", conversion.Rule, conversion.Elem.Rule)
	}
	pair := conversion.Elem.Pair
	if pair.Older.Version.Name != "v1beta1" || pair.Newer.Version.Name != "v1" {
		t.Errorf("F leads from %s to %s", pair.Older.Version.Name, pair.Newer.Version.Name)
	}
	if got := pair.Older.Field("Parts"); got.Storage.Elem.Package != olderPath || got.Storage.Elem.String() != "v1.Part" {
		t.Errorf("in memory Parts hold %s of %s, want v1.Part of v1beta1", got.Storage.Elem, got.Storage.Elem.Package)
	}
	if got := pair.Older.Field("Mode"); got.Storage.Elem.Kind != model.Basic {
		t.Errorf("in memory Mode is %s, want a string: storage packages do not import API packages", got.Storage)
	}
	if spec.Underlying.Field("Parts").Type.Elem != part {
		t.Error("the type of v1 is changed")
	}
}

func TestBorrow_OwnTypesKeepTheirNames(t *testing.T) {
	spec, part := shared()
	own := older.own("Shared", field("Other", basic("bool")))
	all, err := Make([]*model.Package{
		older.with([]*model.Field{field("F", spec), field("Own", own)}, own).build(),
		newer.with([]*model.Field{field("F", spec), field("Own", spec)}, spec, part).build(),
	}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, pair := range all.Links[0].Pairs {
		got[pair.Older.Name] = pair.Newer.Name
	}
	want := map[string]string{"Widget": "Widget", "WidgetSpec": "WidgetSpec", "Shared": "Shared", "V1Shared": "Shared", "Part": "Part"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("pairs (-want +got):", diff)
	}
}

// A mistake in a type is reported where it is declared, once for all versions that use it.
func TestBorrow_ProblemsAreReportedAtTheDeclaration(t *testing.T) {
	spec := newer.own("Shared", field("Any", &model.Type{Kind: model.Unsupported, Name: "any"}))
	got := rejected(t, older.with([]*model.Field{field("F", spec)}), newer.with([]*model.Field{field("F", spec)}, spec))
	if !strings.HasPrefix(got, "E07 v1.Shared.Any (any): ") || strings.Count(got, "fix: ") != 1 {
		t.Errorf("the problems are\n%s\nwant E07 for v1.Shared.Any alone", got)
	}
}
