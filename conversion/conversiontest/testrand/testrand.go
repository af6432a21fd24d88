/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package testrand gives tests with random input a seed and a number of inputs. Each test logs both and takes them from the
// environment, so that a failure can be repeated:
//
//	MALLARD_TEST_SEED=1234 MALLARD_TEST_INPUTS=10000 go test ./pkg/... -run Random
//
// Each test makes its own input.
package testrand

import (
	"math/rand"
	"os"
	"strconv"
	"testing"
	"time"
)

const (
	// SeedVariable is the environment variable that sets the seed.
	SeedVariable = "MALLARD_TEST_SEED"
	// InputsVariable is the environment variable that sets how many random inputs a test tries.
	InputsVariable = "MALLARD_TEST_INPUTS"

	usualInputs = 1000
	shortInputs = 100
)

// Source returns a source of random numbers whose seed is logged, along with how many inputs are tried: it is that of
// SeedVariable, or another one each time. A variable that holds no number fails the test.
func Source(t testing.TB) rand.Source {
	t.Helper()
	return SourceFor(t, Inputs(t))
}

// SourceFor is Source for a test that tries another number of inputs than Inputs returns.
func SourceFor(t testing.TB, inputs int) rand.Source {
	t.Helper()
	seed := time.Now().UnixNano()
	if value, ok := os.LookupEnv(SeedVariable); ok {
		var err error
		if seed, err = strconv.ParseInt(value, 10, 64); err != nil {
			t.Fatalf("environment variable %s=%q: must be a whole number", SeedVariable, value)
		}
	}
	t.Logf("to repeat this: %s=%d %s=%d", SeedVariable, seed, InputsVariable, inputs)
	return rand.NewSource(seed)
}

// Inputs returns the number of random inputs of a test: the value of InputsVariable, or 1000, or 100 with -short. A variable that holds
// no number above zero fails the test.
func Inputs(t testing.TB) int {
	t.Helper()
	return AtMost(t, usualInputs)
}

// AtMost is Inputs for a test that would take too long with the usual number: it is limited, unless InputsVariable is set.
func AtMost(t testing.TB, most int) int {
	t.Helper()
	value, ok := os.LookupEnv(InputsVariable)
	switch {
	case !ok && testing.Short():
		return min(most, shortInputs)
	case !ok:
		return min(most, usualInputs)
	}
	inputs, err := strconv.Atoi(value)
	if err != nil || inputs < 1 {
		t.Fatalf("environment variable %s=%q: must be a whole number above zero", InputsVariable, value)
	}
	return inputs
}
