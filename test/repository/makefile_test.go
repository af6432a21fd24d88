/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var targetLine = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)

// targets returns the public targets of the Makefile.
func targets(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, match := range targetLine.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestMakefile_Help_ListsEveryTarget(t *testing.T) {
	var listed []string
	for _, match := range regexp.MustCompile(`(?m)^  ([a-z-]+) +\S`).FindAllStringSubmatch(output(t, "make", "help"), -1) {
		listed = append(listed, match[1])
	}
	slices.Sort(listed)
	if diff := cmp.Diff(targets(t), listed); diff != "" {
		t.Error("make help differs from the Makefile (-Makefile +help):", diff)
	}
}

// No target makes a file of its name.
func TestMakefile_Targets_ArePhony(t *testing.T) {
	var phony []string
	for _, match := range regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		phony = append(phony, strings.Fields(match[1])...)
	}
	slices.Sort(phony)
	if diff := cmp.Diff(targets(t), phony); diff != "" {
		t.Error(".PHONY differs from the targets (-targets +phony):", diff)
	}
}
