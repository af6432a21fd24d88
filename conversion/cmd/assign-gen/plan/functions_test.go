/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// Types that no rule converts are converted by functions, and both originals can be kept.
func TestFunctions_AnyTwoTypes_AreConverted(t *testing.T) {
	plans := planned(t,
		older.with([]*model.Field{field("Days", basic("string"), "+conversion:rename=Period", "+conversion:with=up,down")}),
		newer.with([]*model.Field{field("Period", mapOf(basic("string"), basic("int64")))}))
	got := plans["Period"]
	if got.Conversion == nil || got.Conversion.Rule != ByFunctions || got.Conversion.Functions.Up != "up" || got.Conversion.Functions.Down != "down" {
		t.Errorf("the conversion is %+v", got.Conversion)
	}
	if got.OlderKey != "v1beta1/days" || got.NewerKey != "v1/period" {
		t.Errorf("the keys are %q and %q", got.OlderKey, got.NewerKey)
	}
}

// All structs that lead to a nested struct pass on the data that it needs.
func TestFunctions_MetadataInNestedStructs_IsPassedDown(t *testing.T) {
	text := basic("string")
	types := func(v version, markers ...string) []*model.Type {
		deep := v.own("Deep", field("Path", text, markers...))
		middle := v.own("Middle", field("Deep", mapOf(text, deep)))
		other := v.own("Other", field("Path", text))
		return []*model.Type{deep, middle, other}
	}
	build := func(v version, markers ...string) *model.Package {
		all := types(v, markers...)
		return v.with([]*model.Field{field("Middle", pointer(all[1])), field("Other", all[2])}, all...).build()
	}
	result, err := Make([]*model.Package{build(older, "+conversion:with=up,down,metadata"), build(newer)}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range result.Links[0].Pairs {
		name := pair.Older.Name
		if want := name != "Other"; pair.Metadata != want {
			t.Errorf("%s depends on the metadata: %v, want %v", name, pair.Metadata, want)
		}
		if want := name != "Other" && name != "Widget"; pair.TakesMetadata() != want {
			t.Errorf("%s takes the metadata: %v, want %v", name, pair.TakesMetadata(), want)
		}
	}
	if !result.DependsOnMetadata(result.Hub.Struct("Widget")) {
		t.Error("the kind does not depend on the metadata")
	}
}

// opaque is a type of another module with a field that JSON does not have.
var opaque = foreign("Opaque", structOf(&model.Field{Name: "Hidden", JSON: "-", Type: basic("string")}), "DeepCopyInto")

func TestFunctions_MarkersWithoutEffect_AreProblems(t *testing.T) {
	text := basic("string")
	for name, test := range map[string]struct {
		field, inner []string
		rule         []string
		typ          *model.Type
		want         string
	}{
		"a field that the next version lacks": {
			field: []string{"+conversion:rename=Nowhere", "+conversion:with=up,down"},
			want:  "E02 v1beta1.WidgetSpec.F: the field is called Nowhere in the next version",
		},
		"a strategy": {
			field: []string{"+conversion:strategy=stash", "+conversion:with=up,down"},
			want:  "E08 v1beta1.WidgetSpec.F: the field has a strategy, so that its other markers about the next version mean nothing",
		},
		"an enum": {
			field: []string{"+conversion:enum=A:b", "+conversion:with=up,down"},
			want: "E08 v1beta1.WidgetSpec.F: functions convert the field, so that its enum map or unit means nothing\n" +
				"    fix: remove +conversion:with, or +conversion:enum and :unit",
		},
		"a type that is converted as a whole": {
			rule: []string{"+conversion:with=up,down"}, inner: []string{"+conversion:rename=Other"},
			want: "E08 v1beta1.Rule.Inner: functions convert the type of the field as a whole, so that its markers about the next version mean nothing\n" +
				"    fix: remove +conversion:with from the type, or the markers from the field",
		},
		"a type that is sensitive inside": {
			rule: []string{"+conversion:with=up,down"}, inner: []string{"+conversion:sensitive"},
			want: "E06 v1beta1.Rule: v1beta1.Rule.Inner is sensitive, and values that the other version cannot show would be kept in the annotation\n" +
				"    fix: use types that show every value, or +conversion:strategy=augment, or =drop,reason=TEXT",
		},
		"a sensitive field": {
			field: []string{"+conversion:with=up,down", "+conversion:sensitive"},
			want: "E06 v1beta1.WidgetSpec.F (string) → v1.WidgetSpec.F (string): v1beta1.WidgetSpec.F is sensitive, " +
				"and values that the other version cannot show would be kept in the annotation",
		},
		"a type with a field that JSON leaves out": {
			field: []string{"+conversion:with=up,down"}, typ: opaque,
			want: "E07 v1beta1.WidgetSpec.F (duck.Opaque) → v1.WidgetSpec.F (string): values that the other version cannot show are kept as JSON, " +
				"and duck.Opaque.Hidden does not survive that\n    fix: use another type, or +conversion:strategy=augment",
		},
	} {
		t.Run(name, func(t *testing.T) {
			olderRule, newerRule := older.own("Rule", field("Inner", text, test.inner...)), newer.own("Rule", field("Inner", text), field("Other", text))
			olderRule.Markers = parsed(test.rule...)
			got := rejected(t, older.with([]*model.Field{field("F", cmp.Or(test.typ, text), test.field...), field("Rule", olderRule)}, olderRule),
				newer.with([]*model.Field{field("F", text), field("Rule", newerRule)}, newerRule))
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("the problems are\n%s\nwant %q", got, test.want)
			}
		})
	}
}

// A kind has metadata, which the functions would lose.
func TestFunctions_OnAKind_IsAProblem(t *testing.T) {
	kind := older.with(nil).build()
	kind.Type("Widget").Markers = parsed("+conversion:with=up,down")
	_, err := Make([]*model.Package{kind, newer.with(nil).build()}, Knative)
	const want = "E08 v1beta1.Widget: functions cannot convert a kind as a whole, because its metadata is converted with it\n" +
		"    fix: move +conversion:with to the types of its fields"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the problems are %v, want %q", err, want)
	}
}
