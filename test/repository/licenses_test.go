/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"path/filepath"
	"testing"
)

// The images carry the licenses as their data, which ko takes from a folder beside the program.
func TestEveryImageCarriesTheLicenses(t *testing.T) {
	mains, err := filepath.Glob(filepath.Join(root, "cmd", "*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatalf("finding the programs: %v (%d)", err, len(mains))
	}
	for _, main := range mains {
		program := filepath.Dir(main)
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
