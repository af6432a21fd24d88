/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestOff_Names_SwitchConcernsOff(t *testing.T) {
	off, err := parseOff(" tracker, tombstones,")
	if got := slices.Sorted(maps.Keys(off)); err != nil || !slices.Equal(got, []concern{tombstones, references}) {
		t.Errorf("parseOff() = %v, %v", got, err)
	}
}

func TestOff_UnknownName_IsAnErrorWithTheValidOnes(t *testing.T) {
	_, err := parseOff("trackers")
	if err == nil || !strings.Contains(err.Error(), `HARDENING_OFF: there is no concern "trackers"; there are: [limits panics`) {
		t.Errorf("error: %v", err)
	}
}
