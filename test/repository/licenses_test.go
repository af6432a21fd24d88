/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"path/filepath"
	"testing"
)

// The images carry the licences as their data, which ko takes from a folder beside the program.
func TestEveryImageCarriesTheLicences(t *testing.T) {
	programs, err := filepath.Glob(filepath.Join(root, "cmd", "*"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("finding the programs: %v (%d)", err, len(programs))
	}
	for _, program := range programs {
		for _, name := range []string{"LICENSE", "third_party"} {
			want, err := filepath.EvalSymlinks(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := filepath.EvalSymlinks(filepath.Join(program, "kodata", name))
			if err != nil || got != want {
				t.Errorf("%s/kodata/%s leads to %q (%v), want %s", program, name, got, err, want)
			}
		}
	}
}
