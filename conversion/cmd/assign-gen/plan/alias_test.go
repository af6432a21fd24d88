/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

func TestAlias_OfAnotherField_ReadsAndWritesIt(t *testing.T) {
	olderVersion, newerVersion := moved(field("Old", basic("string"), "+conversion:alias=Part.Name"))
	result, err := Make([]*model.Package{olderVersion.build(), newerVersion.build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range result.Links[0].Pairs {
		if pair.Older.Name != "WidgetSpec" {
			continue
		}
		if len(pair.Aliases) != 1 {
			t.Fatalf("%d aliases, want 1", len(pair.Aliases))
		}
		got := pair.Aliases[0]
		if got.Other.String() != "Part.Name" || got.Newer.String() != "Part.Name" || got.OlderKey != "v1beta1/old" || got.ShownKey != "v1beta1/old.shown" {
			t.Errorf("the alias of %s is shown in %s and kept in %s and %s", got.Other, got.Newer, got.OlderKey, got.ShownKey)
		}
	}
}

func TestAlias_Impossible_IsAProblem(t *testing.T) {
	text := basic("string")
	for name, test := range map[string]struct {
		field *model.Field
		want  string
	}{
		"of a field that no other becomes": {
			field("Old", text, "+conversion:alias=Part.Size"),
			"E01 v1beta1.WidgetSpec.Old → v1.WidgetSpec.Part.Size: no other field becomes this one, so that the field is no alias\n" +
				"    fix: use +conversion:rename, or a hook (+conversion:strategy=augment)",
		},
		"of a field that is converted by functions": {
			field("Old", text, "+conversion:alias=Whole.Name"),
			"E01 v1beta1.WidgetSpec.Old → v1.WidgetSpec.Whole.Name: no other field becomes this one, so that the field is no alias",
		},
		"misspelt": {
			field("Old", text, "+conversion:alias=Part.Naem"),
			"E02 v1beta1.WidgetSpec.Old: the field is called Part.Naem in the next version, and v1.Part has no field Naem; did you mean \"Name\"?\n" +
				"    fix: correct +conversion:alias, or add the field",
		},
		"renamed as well": {
			field("Old", text, "+conversion:alias=Part.Name", "+conversion:rename=Part.Size"),
			"E08 v1beta1.WidgetSpec.Old: an alias is shown in the field that its marker names, and has no other markers for that than :unit and :with",
		},
		"of another type": {
			field("Old", basic("bool"), "+conversion:alias=Part.Name"),
			"E01 v1beta1.WidgetSpec.Old (bool) → v1.WidgetSpec.Part.Name (string): no conversion from bool to string",
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

func TestAlias_InAFlattenedStruct_IsAProblem(t *testing.T) {
	text := basic("string")
	flat := older.own("Flat", field("Old", text, "+conversion:alias=Name"))
	got := rejected(t, older.with([]*model.Field{field("Flat", flat, "+conversion:flatten"), field("Name", text)}, flat),
		newer.with([]*model.Field{field("Name", text)}))
	const want = "E08 v1beta1.Flat.Old: the marker +conversion:alias is at a field of a struct that is flattened\n" +
		"    fix: use a hook, or remove +conversion:flatten"
	if !strings.Contains(got, want) {
		t.Errorf("the problems are\n%s\nwant %q", got, want)
	}
}

// The newer field may have a value that the other older field cannot show, so that the alias would be shown in its place.
func TestAlias_OfAFieldThatLosesValues_IsAProblem(t *testing.T) {
	got := rejected(t, older.with([]*model.Field{field("Old", basic("int32"), "+conversion:alias=Count"), field("Count", basic("int32"))}),
		newer.with([]*model.Field{field("Count", basic("int64"))}))
	const want = "E01 v1beta1.WidgetSpec.Old → v1.WidgetSpec.Count: v1beta1.WidgetSpec.Count becomes this field as well, and not every value of it is shown\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("the problems are\n%s\nwant %q", got, want)
	}
}
