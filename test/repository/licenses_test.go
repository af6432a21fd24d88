/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"path/filepath"
	"regexp"
	"testing"
)

// image matches the program of an image.
var image = regexp.MustCompile(`ko://\S+/(cmd/\w+)`)

// The images carry the licenses as their data, which ko takes from a folder next to the program.
func TestLicenses_Images_CarryThem(t *testing.T) {
	programs := map[string]bool{}
	for _, path := range files(t, "config/*.yaml", "kustomize/*.yaml", "post-install/*.yaml", "optional/*.yaml") {
		for _, match := range image.FindAllStringSubmatch(read(t, path), -1) {
			programs[filepath.Join(root, match[1])] = true
		}
	}
	if len(programs) == 0 {
		t.Fatal("there are no images")
	}
	for program := range programs {
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
