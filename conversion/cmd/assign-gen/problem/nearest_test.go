/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package problem

import "testing"

func TestNearest_Misspelled_ReturnsTheNearest(t *testing.T) {
	candidates := []string{"rename", "strategy", "enum", "unit"}
	for _, test := range []struct{ word, want string }{
		{"renam", "rename"},
		{"rneame", "rename"},
		{"Enum", "enum"},
		{"stratgy", "strategy"},
		{"unit", "unit"},
		{"positional", ""},
		{"", ""},
	} {
		if got, found := Nearest(test.word, candidates); got != test.want || found != (test.want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", test.word, got, found, test.want)
		}
	}
}
