/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIdentifiers_SpellsKeysLiterallyThatWouldBeAlike(t *testing.T) {
	got := identifiers("bag", []string{
		"v1/fooBar", "v1/plain.name", "v1/foo-bar", "v1/foo.bar", "v1/foo_bar", "v1/fooBar", "v1/deletion", "v1/Deletion", "v1/größe", "v1/grüße",
	})
	want := map[string]string{
		"v1/plain.name": "bagV1PlainName",
		"v1/fooBar":     "bag_v1_fooBar",
		"v1/foo-bar":    "bag_v1_foo__bar",
		"v1/foo.bar":    "bag_v1_foo_bar",
		"v1/foo_bar":    "bag_v1_foo_5f_bar",
		"v1/deletion":   "bag_v1_deletion",
		"v1/Deletion":   "bag_v1_Deletion",
		"v1/größe":      "bag_v1_gr_f6__df_e",
		"v1/grüße":      "bag_v1_gr_fc__df_e",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}
