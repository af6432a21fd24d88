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

// fates returns the fates of the fields of a struct, by their paths in both versions.
func fates(t *testing.T, all *Plan, name string) map[string]string {
	t.Helper()
	at := slices.IndexFunc(all.Links[0].Pairs, func(p *Pair) bool { return p.Older.Name == name })
	got := make(map[string]string)
	for _, each := range all.Links[0].Pairs[at].Fields {
		fate := string(each.Fate)
		if each.Presence {
			fate += ", presence"
		}
		if slices.ContainsFunc(all.Links[0].Pairs[at].Shared, func(s *Shared) bool { return slices.Contains(s.Fields, each) }) {
			fate += ", shared"
		}
		got[each.From.String()+" → "+each.Newer.String()] = fate
	}
	return got
}

// moved are two versions with fields that are in other structs later on.
func moved(fields ...*model.Field) (olderVersion, newerVersion version) {
	text := basic("string")
	status, part := older.own("Status", field("Ready", text), field("Gone", text), field("Phase", text, "+conversion:rename=Summary.Phase")), older.own("Part", field("Name", text))
	newPart, summary := newer.own("Part", field("Name", text), field("Size", text)), newer.own("Summary", field("Phase", text), field("Since", text))
	whole := older.own("Whole", field("Name", text))
	whole.Markers = parsed("+conversion:with=up,down")
	newWhole := newer.own("Whole", field("Name", text), field("Size", text))
	fields = append(fields, field("Part", part), field("Whole", whole))
	return older.with(append(fields, field("Status", pointer(status), "+conversion:flatten")), status, part, whole),
		newer.with([]*model.Field{field("Part", pointer(newPart)), field("Whole", newWhole), field("Ready", text), field("Summary", pointer(summary))},
			newPart, newWhole, summary)
}

func TestMoves_BetweenStructs_ArePlanned(t *testing.T) {
	olderVersion, newerVersion := moved(field("Size", basic("string"), "+conversion:rename=Part.Size"))
	result, err := Make([]*model.Package{olderVersion.build(), newerVersion.build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Part → Part":                  "converted",
		"Whole → Whole":                "converted",
		"Size → Part.Size":             "converted, shared",
		"Status → ":                    "stashed (older), presence",
		"Status.Ready → Ready":         "converted",
		"Status.Gone → ":               "stashed (older)",
		"Status.Phase → Summary.Phase": "converted",
		" → Summary":                   "stashed (newer), presence",
		" → Summary.Since":             "stashed (newer)",
	}
	if diff := cmp.Diff(want, fates(t, result, "WidgetSpec")); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestMoves_Impossible_AreProblems(t *testing.T) {
	text := basic("string")
	for name, test := range map[string]struct {
		field *model.Field
		want  string
	}{
		"into a field that the older struct has": {
			field("Name", text, "+conversion:rename=Part.Name"),
			"E03 v1beta1.WidgetSpec.Name → v1.WidgetSpec.Part.Name: both versions have v1.Part, and its conversion decides about Name\n" +
				"    fix: lead to a field that only the newer struct has, or use +conversion:strategy=augment or =stash",
		},
		"into a struct that functions convert": {
			field("Size", text, "+conversion:rename=Whole.Size"),
			"E03 v1beta1.WidgetSpec.Size → v1.WidgetSpec.Whole.Size: v1beta1.WidgetSpec.Whole leads here too, and is not converted field by field",
		},
		"out of a field that is no struct": {
			field("Ready", text, "+conversion:flatten"),
			"E08 v1beta1.WidgetSpec.Ready: the marker +conversion:flatten is at a field that holds no struct of v1beta1\n" +
				"    fix: remove it, or lead each field to its place by +conversion:rename or a hook",
		},
		"out of a struct, and as a whole": {
			&model.Field{Name: "Other", JSON: "other", Type: older.own("Part", field("Name", text)), Markers: parsed("+conversion:flatten", "+conversion:rename=Part")},
			"E08 v1beta1.WidgetSpec.Other: the fields of the struct are converted each by itself, so that other markers about the next version mean nothing here",
		},
		"to a field that another one becomes": {
			field("Ready", text),
			"E03 v1.WidgetSpec.Ready: more than one older field leads here: v1beta1.WidgetSpec.Ready, v1beta1.Status.Ready",
		},
	} {
		t.Run(name, func(t *testing.T) {
			olderVersion, newerVersion := moved(test.field)
			if got := rejected(t, olderVersion, newerVersion); !strings.Contains(got, test.want) {
				t.Errorf("the problems are\n%s\nwant %q", got, test.want)
			}
		})
	}
}

// A struct that is inside of itself has no end of fields.
func TestMoves_RecursiveStruct_IsNotFlattened(t *testing.T) {
	tree := older.own("Tree", field("Name", basic("string")))
	tree.Underlying.Fields = append(tree.Underlying.Fields, field("Inner", pointer(tree), "+conversion:flatten"))
	got := rejected(t, older.with([]*model.Field{field("Tree", pointer(tree), "+conversion:flatten")}, tree), newer.with(nil))
	const want = "E08 v1beta1.Tree.Inner: the marker +conversion:flatten is at a field that is inside of the struct that it holds"
	if !strings.Contains(got, want) {
		t.Errorf("the problems are\n%s\nwant %q", got, want)
	}
}

// A struct whose fields get into other structs may have the name of a struct of the next version: nothing converts the one to the other.
func TestMoves_FlattenedStructOfANameInTheNextVersion_IsPlanned(t *testing.T) {
	text := basic("string")
	disruption := older.own("Disruption", field("Policy", text, "+conversion:rename=Disruption.Policy"), field("Expire", text, "+conversion:rename=Template.Expire"))
	newDisruption, template := newer.own("Disruption", field("Policy", text)), newer.own("Template", field("Expire", text))
	result, err := Make([]*model.Package{
		older.with([]*model.Field{field("Disruption", disruption, "+conversion:flatten")}, disruption).build(),
		newer.with([]*model.Field{field("Disruption", newDisruption), field("Template", template)}, newDisruption, template).build(),
	}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		" → Disruption":                         "stashed (newer), presence",
		" → Template":                           "stashed (newer), presence",
		"Disruption → ":                         "stashed (older), presence",
		"Disruption.Expire → Template.Expire":   "converted",
		"Disruption.Policy → Disruption.Policy": "converted",
	}
	if diff := cmp.Diff(want, fates(t, result, "WidgetSpec")); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

// Nothing converts Holder but functions, and Part cannot be converted: no generated code calls the conversion of Part.
func TestMake_StructThatNothingConvertsHoldsAnImpossibleOne_BothAreLeftOut(t *testing.T) {
	part, newPart := older.own("Part", field("A", basic("string"))), newer.own("Part", field("A", basic("int32")))
	holder, newHolder := older.own("Holder", field("Parts", slice(part))), newer.own("Holder", field("Parts", slice(newPart)))
	result, err := Make([]*model.Package{
		older.with([]*model.Field{field("Legacy", holder, "+conversion:with=Up,Down")}, holder, part).build(),
		newer.with([]*model.Field{field("Legacy", newHolder)}, newHolder, newPart).build(),
	}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range result.Links[0].Pairs {
		if name := pair.Older.Name; name == "Holder" || name == "Part" {
			t.Errorf("the plan has %s", name)
		}
	}
}
