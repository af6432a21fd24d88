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

// Each marker that has no effect, or that another one of its field contradicts, is reported with the remedy.
func TestLeftovers_MarkersWithoutEffect_AreProblems(t *testing.T) {
	text := basic("string")
	alone := older.own("Alone", field("Name", text, "+conversion:rename=Title"))
	marked := older.own("Marked", field("Name", text))
	marked.Markers = parsed("+conversion:augment")
	twin, other := older.own("Twin", field("Name", text)), older.own("Other", field("Name", text))
	other.Markers = parsed("+conversion:name=Twin")
	newTwin := newer.own("Twin", field("Name", text))
	got := rejected(t,
		older.with([]*model.Field{
			field("Alone", alone), field("Marked", marked), field("Twin", twin), field("Other", other),
			field("Both", text, "+conversion:strategy=stash", "+conversion:rename=Field"),
			field("Flat", twin, "+conversion:flatten", "+conversion:rename=Twin"),
			field("Alias", text, "+conversion:alias=Field", "+conversion:rename=Field"),
			field("Gone", text, "+conversion:enum=A:B,fallback=A"),
			field("Field", text),
		}, alone, marked, twin, other),
		newer.with([]*model.Field{field("Twin", newTwin), field("Other", newTwin), field("Field", text)}, newTwin),
	)
	const want = `E08 v1beta1.Alone.Name: the field has a marker about the next version, where its type has no counterpart
    fix: remove +conversion:rename, :alias, :flatten, :strategy, :enum, :unit and :with; for the field's conversion to the older version, use +conversion:older
E08 v1beta1.Marked: the type has a marker about the next version, and has no counterpart there
    fix: remove +conversion:name, :augment and :with
E03 v1beta1.Twin: both this type and Other become v1.Twin
    fix: remove +conversion:name from one of them, or rename the newer type
E08 v1beta1.WidgetSpec.Alias: an alias is shown in the field that its marker names, and has no other markers for that than :unit and :with
    fix: remove either +conversion:alias or +conversion:rename, :flatten, :strategy and :enum
E08 v1beta1.WidgetSpec.Both: the field has a strategy, so that its other markers about the next version mean nothing
    fix: remove either +conversion:strategy or +conversion:rename, :enum, :unit and :with
E08 v1beta1.WidgetSpec.Flat: the fields of the struct are converted each by itself, so that other markers about the next version mean nothing here
    fix: remove either +conversion:flatten or +conversion:rename, :strategy, :enum, :unit and :with
E08 v1beta1.WidgetSpec.Gone: the field has a marker about its conversion, and the next version has no such field
    fix: remove +conversion:enum, :unit and :with, or add +conversion:rename`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestCollisions_NamesThatAreTaken_AreProblems(t *testing.T) {
	text, convertible := basic("string"), older.own("WidgetHubConvertible")
	again := field("Again", text)
	again.JSON = "name"
	got := rejected(t, older.with([]*model.Field{field("Part", convertible), field("Name", text), again}, convertible), newer.with(nil))
	const want = `E12 v1beta1.Widget: there is a type WidgetHubConvertible, which is the name of something in the storage package
    fix: rename that type
E12 v1beta1.WidgetSpec: two fields are called name in JSON
    fix: rename one of them`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}
