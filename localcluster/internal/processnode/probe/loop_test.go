/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package probe

import "testing"

func TestCounter_Results_ReachTheThresholds(t *testing.T) {
	count := Counter{Success: 2, Failure: 3}
	for i, step := range []struct{ ok, result, changed bool }{
		{true, false, false},
		{true, true, true},
		{true, true, false},
		{false, true, false},
		{false, true, false},
		{true, true, false},
		{false, true, false},
		{false, true, false},
		{false, false, true},
		{false, false, false},
		{true, false, false},
		{true, true, true},
	} {
		if result, changed := count.Add(step.ok); result != step.result || changed != step.changed {
			t.Errorf("step %d: %t, %t", i, result, changed)
		}
	}
}
