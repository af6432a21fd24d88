/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package closest finds the name that a user probably meant.
package closest

import (
	"iter"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// To returns the name that is closest to one with a typing mistake, whatever the case of letters, or "" if none is close. If several are as close, it
// is the first of the alphabet.
func To(mistyped string, names iter.Seq[string]) (closest string) {
	least := 1 + len(mistyped)/3
	for name := range names {
		distance := levenshtein.Distance(strings.ToLower(mistyped), strings.ToLower(name), nil)
		if distance < least || distance == least && closest != "" && name < closest {
			least, closest = distance, name
		}
	}
	return closest
}

// Advice returns the name that was probably meant, or all names.
func Advice(mistyped string, names []string) string {
	if name := To(mistyped, slices.Values(names)); name != "" {
		return "did you mean " + name + "?"
	}
	return "use " + strings.Join(names, ", ")
}
