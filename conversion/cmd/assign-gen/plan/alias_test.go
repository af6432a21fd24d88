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
			"E01 v1beta1.WidgetSpec.Old → v1.WidgetSpec.Part.Size: no other field becomes this one, so that the field is no alias",
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
