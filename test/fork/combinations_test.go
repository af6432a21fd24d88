//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"maps"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// kind matches the kind that a CRD defines.
var kind = regexp.MustCompile(`(?m)^    kind: (\w+)$`)

// All forks have the same names, so that the go command compiles what they have in common once.
func TestFork_EveryCombinationOfKinds_Compiles(t *testing.T) {
	template, variables := newTemplate(t), randomNames(rand.New(testrand.SourceFor(t, 1)))
	variables["MODULES"] = template.Dir
	var kinds []string
	for _, path := range template.Files(t, "config/300-*.yaml") {
		kinds = append(kinds, kind.FindStringSubmatch(template.Read(t, path))[1])
	}
	for _, chosen := range combinations(kinds) {
		if slices.Contains(chosen, "AddressBinding") && !slices.Contains(chosen, "AddressableService") {
			continue // make fork rejects it
		}
		t.Run(strings.Join(chosen, ","), func(t *testing.T) {
			fork := maps.Clone(variables)
			fork["KINDS"] = strings.Join(chosen, ",")
			template.fork(t, fork).Run(t, "go", "vet", "-tags", "nightly", "./...")
		})
	}
}

// combinations returns all non-empty subsets.
func combinations(all []string) [][]string {
	if len(all) == 0 {
		return nil
	}
	subsets := [][]string{all[:1]}
	for _, rest := range combinations(all[1:]) {
		subsets = append(subsets, rest, append(all[:1:1], rest...))
	}
	return subsets
}
