/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"slices"
	"testing"
)

// The report lists a field in the table of its struct, with all of its struct or type, or by a path from another struct.
func TestReported_FieldsThatDiffer_AreListed(t *testing.T) {
	kind := lamps(func(whole) {})
	kind.Decided = map[string][]string{"v1beta1": {"lampSpec.Mode", "lampPart"}, "→ v1": {"*.Note"}}
	_, fields := kind.alike(kind.Versions[0], kind.Versions[1])
	const head = "\n### lampSpec\n\n| v1beta1 | v1 | |\n|---|---|---|\n"
	for link, want := range map[string][]string{
		head + "| `mode` string | `mode` string | A is B |\n\n### lampPart\n\nEach is converted by functions.\n": nil,
		head + "|  | `mode` string | stashed |\n":                                                   {"parts of lampSpec"},
		"\n### lampSpec (augmented by a hook)\n":                                                    nil,
		"\n### lamp\n\n1 field is the same.\n\n| `Spec.Mode` string | `other` string | renamed |\n": {"parts of lampSpec"},
		"\n### lamp\n\n| `mode` string | `mode` string | A is B |\n":                                {"mode of lampSpec", "parts of lampSpec"},
	} {
		var missing []string
		for name, each := range fields {
			if !each.isIn(link, before) && !each.isIn(link, after) {
				missing = append(missing, name)
			}
		}
		slices.Sort(missing)
		if !slices.Equal(missing, want) {
			t.Errorf("%s lacks %q, want %q", link, missing, want)
		}
	}
}

// A hook of a kind may be about all of its fields.
func TestAlike_KindWithAHook_ComparesNothing(t *testing.T) {
	kind := lamps(func(spec whole) { spec["mode"] = "wrong" })
	kind.Decided = map[string][]string{"v1beta1": {"lamp"}}
	from, to := kind.Versions[0], kind.Versions[1]
	alike, fields := kind.alike(from, to)
	if len(fields) > 0 {
		t.Errorf("fields that are not alike: %v", fields)
	}
	object := canonical(t, kind.random(t).object(t, from))
	if path, difference := kind.shownWrong(t, alike, object, "example.com/properties", from, to); difference != "" {
		t.Errorf("%s: %s", path, difference)
	}
}
