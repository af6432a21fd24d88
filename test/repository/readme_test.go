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

// tour is the page with the map of the tree.
const tour = "docs/start/tour.md"

// row is a row of the map, with the folders in its first column.
var row = regexp.MustCompile("(?m)^\\| ((?:`[^`]+/`(?:, )?)+) \\|")

func TestTour_MapOfTheTree_HasFewRowsAndEveryFolder(t *testing.T) {
	const most = 15
	rows := row.FindAllStringSubmatch(read(t, tour), -1)
	if len(rows) == 0 || len(rows) > most {
		t.Errorf("%s: the map has %d rows, want 1 to %d", tour, len(rows), most)
	}
	var named []string
	for _, columns := range rows {
		for folder := range strings.SplitSeq(strings.ReplaceAll(columns[1], "`", ""), ", ") {
			named = append(named, folder)
		}
	}
	for _, path := range files(t) {
		if !strings.Contains(path, "/") || strings.HasPrefix(path, ".") {
			continue
		}
		if !slices.ContainsFunc(named, func(folder string) bool { return strings.HasPrefix(path, folder) }) {
			t.Errorf("%s: the map does not name the folder of %s", tour, path)
		}
	}
}

func TestContributing_Targets_AreDescribed(t *testing.T) {
	var described []string
	row := regexp.MustCompile("(?m)^\\| *`make ([a-z-]+)[^`]*` *\\|")
	for _, match := range row.FindAllStringSubmatch(read(t, "CONTRIBUTING.md"), -1) {
		described = append(described, match[1])
	}
	slices.Sort(described)
	if diff := cmp.Diff(targets(t), slices.Compact(described)); diff != "" {
		t.Error("the table of CONTRIBUTING.md differs from the Makefile (-Makefile +table):", diff)
	}
}
