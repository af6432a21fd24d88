/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"math/rand"
	"testing"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

const (
	// bytesOfKind and bytesOfLink are the numbers of bytes of JSON that the tests of a kind and of a struct convert, which takes seconds.
	bytesOfKind = 512 << 10
	bytesOfLink = 48 << 10
	// fewest is the minimum number of objects that a test tries, however large they are.
	fewest = 20
	// sampled is the number of objects that are created to measure their size.
	sampled = 16
)

// affordable returns the number of objects that the tests of a kind try on each way from a version to another one and back, also by a third one.
func (k Kind) affordable(t testing.TB) int {
	t.Helper()
	size, versions := 0, len(k.Versions)
	for _, version := range k.Versions {
		size += sizeOf(t, func() any { return version.New() }, k.Functions)
	}
	return inputsOf(t, bytesOfKind, size*versions*max(1, versions-1))
}

// inputsOf returns the number of inputs of a test that converts so many bytes for each.
func inputsOf(t testing.TB, affordable, each int) int {
	t.Helper()
	return testrand.AtMost(t, max(fewest, affordable/max(1, each)))
}

// sizeOf returns the average size of the JSON of a random object, in bytes. It depends on the type alone, so that a test always tries the
// same number of objects.
func sizeOf(t testing.TB, empty func() any, functions []any) int {
	t.Helper()
	random, total := newFiller(rand.NewSource(sameObjects), functions), 0
	for range sampled {
		text, err := json.Marshal(random.fillValid(t, empty()))
		if err != nil {
			t.Fatal(err) // it was read from JSON
		}
		total += len(text)
	}
	return total / sampled
}

// shareOf returns the number of inputs for a property that each two versions try.
func shareOf(inputs int) int {
	const pairs = 6 // of three versions
	return max(1, inputs/pairs)
}

func (k Kind) random(t testing.TB) *filler {
	t.Helper()
	return newFiller(testrand.SourceFor(t, k.inputs), k.Functions)
}
