/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion"
)

// An alert on the first drop or panic needs the 0 before it.
func TestCounters_BeforeAnythingIsCounted_HaveEachPart(t *testing.T) {
	got := map[string][]string{}
	for _, counter := range conversion.Counters() {
		if counter.Description == "" || counter.Unit == "" {
			t.Errorf("%s has the unit %q and the description %q", counter.Name, counter.Unit, counter.Description)
		}
		for _, part := range []string{"", "annotation", "entry"} {
			if _, ok := counter.Counts()[part]; ok {
				got[counter.Name] = append(got[counter.Name], part)
			}
		}
	}
	want := map[string][]string{
		"conversion.bag.dropped": {"annotation", "entry"}, "conversion.bag.truncated": {""}, "conversion.bag.large": {""}, "conversion.panics": {""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts of counters (-want +got):\n%s", diff)
	}
}
