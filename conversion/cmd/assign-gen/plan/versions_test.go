/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestVersions_MarkersThatAreWrong_AreProblems(t *testing.T) {
	for name, test := range map[string]struct {
		older, newer []string
		want         string
	}{
		"two versions that follow each other": {
			older.markers,
			[]string{"+conversion-gen:next=" + olderPath},
			"E05 v1, v1beta1: no version is the hub\n" +
				"    fix: write +conversion-gen:hub in place of +conversion-gen:next in doc.go of the version that is stored",
		},
		"a marker of the hub": {
			slices.Concat(older.markers, []string{"+conversion-gen:annotation=example.com/other"}), newer.markers,
			"E08 v1beta1: the marker +conversion-gen:annotation holds for all versions, and is at one that is not the hub\n    fix: move it to v1",
		},
		"a retired version that exists": {
			older.markers,
			slices.Concat(newer.markers, []string{"+conversion-gen:retired=v1beta1"}),
			"E08 v1: the version v1beta1 is listed as retired and still exists\n" +
				"    fix: remove it from +conversion-gen:retired, or the package from those that are given",
		},
		"no annotation": {
			older.markers,
			newer.markers[:1],
			"E08 v1: no annotation is named for what a version cannot show\n" +
				"    fix: add +conversion-gen:annotation=conversion.GROUP/properties to doc.go",
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := older, newer
			from.markers, to.markers = test.older, test.newer
			if got := rejected(t, from, to); !strings.Contains(got, test.want) {
				t.Errorf("the problems are\n%s\nwant %q", got, test.want)
			}
		})
	}
}
