/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package testrand

import (
	"math/rand"
	"os"
	"strconv"
	"testing"
	"time"
)

// SeedVariable is the environment variable that sets the seed.
const SeedVariable = "MALLARD_TEST_SEED"

// Inputs is how many random inputs a test tries.
const Inputs = 1000

// Source returns a source of random numbers whose seed is logged: it is that of
// SeedVariable, or another one each time. A variable that holds no number fails
// the test.
func Source(t testing.TB) rand.Source {
	t.Helper()
	seed := time.Now().UnixNano()
	if value, ok := os.LookupEnv(SeedVariable); ok {
		var err error
		if seed, err = strconv.ParseInt(value, 10, 64); err != nil {
			t.Fatalf("environment variable %s=%q: must be a whole number", SeedVariable, value)
		}
	}
	t.Logf("to repeat this: %s=%d", SeedVariable, seed)
	return rand.NewSource(seed)
}
