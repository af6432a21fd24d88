/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package testrand

import (
	"math/rand"
	"testing"
)

func TestSeedOfTheVariableRepeatsTheNumbers(t *testing.T) {
	t.Setenv(SeedVariable, "42")
	first, second := Source(t).Int63(), Source(t).Int63()
	if want := rand.NewSource(42).Int63(); first != want || second != want {
		t.Errorf("with seed 42 the first numbers are %d and %d, want %d both times", first, second, want)
	}
}
