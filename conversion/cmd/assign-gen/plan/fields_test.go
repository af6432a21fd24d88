/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

func TestFields_EachPair_HasTheExpectedFate(t *testing.T) {
	text := basic("string")
	status := foreign("Status", structOf(field("Address", pointer(text)), field("Other", slice(text))))
	olderFields := []*model.Field{
		field("Same", text),
		field("Old", text, "+conversion:rename=New"),
		field("Address", pointer(text), "+conversion:rename=Status.Address"),
		field("Gone", text),
		field("Hooked", text, "+conversion:strategy=augment"),
		field("Kept", slice(text), "+conversion:strategy=stash"),
		field("Lost", text, "+conversion:strategy=drop,reason=it was not read"),
		field("Count", basic("int32")),
	}
	newerFields := []*model.Field{
		field("Same", pointer(text)),
		field("New", text),
		{Name: "Status", Type: status, Embedded: true},
		field("Hooked", slice(text)),
		field("Kept", mapOf(text, text)),
		field("Count", basic("int64")),
		field("Fresh", text),
		field("Ours", text, "+conversion:older=augment"),
		field("Unwanted", text, "+conversion:older=drop,reason=older clients never see it"),
	}
	result, err := Make([]*model.Package{older.with(olderFields).build(), newer.with(newerFields).build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(result.Links[0].Pairs, func(p *Pair) bool { return p.Older.Name == "WidgetSpec" })
	pair := result.Links[0].Pairs[at]
	if !pair.Augmented {
		t.Error("the hook is not mandatory")
	}

	type row struct{ Fate, Older, Newer, OlderKey, NewerKey, Reason string }
	var got []row
	for _, each := range pair.Fields {
		next := row{Fate: string(each.Fate), Newer: each.Newer.String(), OlderKey: each.OlderKey, NewerKey: each.NewerKey, Reason: each.Reason}
		if each.Older != nil {
			next.Older = each.Older.Name()
		}
		got = append(got, next)
	}
	want := []row{
		{Fate: "converted", Older: "Count", Newer: "Count", OlderKey: "v1beta1/count", NewerKey: "v1/count"},
		{Fate: "stashed (newer)", Newer: "Fresh", NewerKey: "v1/fresh"},
		{Fate: "stashed (older)", Older: "Gone", OlderKey: "v1beta1/gone"},
		{Fate: "augmented (newer)", Newer: "Hooked", NewerKey: "v1/hooked"},
		{Fate: "augmented (older)", Older: "Hooked", OlderKey: "v1beta1/hooked"},
		{Fate: "stashed (newer)", Newer: "Kept", NewerKey: "v1/kept"},
		{Fate: "stashed (older)", Older: "Kept", OlderKey: "v1beta1/kept"},
		{Fate: "dropped (older)", Older: "Lost", Reason: "it was not read"},
		{Fate: "converted", Older: "Old", Newer: "New"},
		{Fate: "augmented (newer)", Newer: "Ours", NewerKey: "v1/ours"},
		{Fate: "converted", Older: "Same", Newer: "Same"},
		{Fate: "stashed (newer)", Newer: "Status", NewerKey: "v1/Status"},
		{Fate: "converted", Older: "Address", Newer: "Status.Address"},
		{Fate: "stashed (newer)", Newer: "Status.Other", NewerKey: "v1/other"},
		{Fate: "dropped (newer)", Newer: "Unwanted", Reason: "older clients never see it"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

// Five fields, each wrong in its own way: all are reported, sorted.
func TestFields_SeveralProblems_AreReportedSorted(t *testing.T) {
	text := basic("string")
	_, err := Make([]*model.Package{
		older.with([]*model.Field{
			field("Protocols", slice(text)),
			field("Alpha", text, "+conversion:renam=Beta"),
			field("Secret", text, "+conversion:sensitive"),
			field("Path", text, "+conversion:rename=Rout"),
			field("Any", &model.Type{Kind: model.Unsupported, Name: "any"}),
		}).build(),
		newer.with([]*model.Field{field("Protocols", mapOf(text, text)), field("Route", text), field("Pat", text)}).build(),
	}, Knative)
	if err == nil {
		t.Fatal("there is a plan")
	}
	want := `E08 v1beta1.WidgetSpec.Alpha: there is no marker +conversion:renam; did you mean "conversion:rename"?
    fix: write +conversion:rename=NewField or +conversion:rename=Struct.Field
E07 v1beta1.WidgetSpec.Any (any): what an interface holds is unknown
    fix: use types that JSON and DeepCopy know: builtin ones, structs, pointers, lists, and maps with strings as keys
E02 v1beta1.WidgetSpec.Path: the field is called Rout in the next version, and v1.WidgetSpec has no field Rout; did you mean "Route"?
    fix: correct +conversion:rename, or add the field
E01 v1beta1.WidgetSpec.Protocols ([]string) → v1.WidgetSpec.Protocols (map[string]string): no conversion from slice to map
    fix: convert it by functions (+conversion:with=UpFunc,DownFunc) or a hook (+conversion:strategy=augment), or keep both apart (+conversion:strategy=stash)
E06 v1beta1.WidgetSpec.Secret: the field is sensitive, and only one version has it, so it would be kept in the annotation
    fix: add it to the other version, or leave it to a hook (+conversion:strategy=augment), or drop it (+conversion:strategy=drop,reason=TEXT)`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestFields_PathsIntoStructsThatDoNotConvert_AreProblems(t *testing.T) {
	text := basic("string")
	duck := foreign("Duck", structOf(field("Value", text), field("Pointer", pointer(text)), &model.Field{Name: "hidden", JSON: "hidden", Type: text}))
	inner := newer.own("Inner", field("Count", basic("int64")))
	for name, test := range map[string]struct {
		older *model.Field
		want  string
	}{
		"a value of another module": {
			field("F", text, "+conversion:rename=Duck.Value"),
			"E01 v1beta1.WidgetSpec.F (string) → v1.WidgetSpec.Duck.Value (string): the path leads to a value inside of a struct of another module, which cannot be absent",
		},
		"a field that is not exported": {
			field("F", text, "+conversion:rename=Duck.hidden"),
			"E02 v1beta1.WidgetSpec.F: the field is called Duck.hidden in the next version, and duck.Duck has no field hidden",
		},
		"a misspelt end": {
			field("F", text, "+conversion:rename=Inner.Conut"),
			`E02 v1beta1.WidgetSpec.F: the field is called Inner.Conut in the next version, and v1.Inner has no field Conut; did you mean "Count"?`,
		},
		"through a list": {
			field("F", text, "+conversion:rename=Listed.Count"),
			"E01 v1beta1.WidgetSpec.F → v1.WidgetSpec.Listed: the path Listed.Count leads through []v1.Inner, which is no struct",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := rejected(t, older.with([]*model.Field{test.older}),
				newer.with([]*model.Field{field("Inner", inner), field("Duck", duck), field("Listed", slice(inner), "+conversion:key=count")}, inner))
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("the problems are\n%s\nwant %q", got, test.want)
			}
		})
	}
}
