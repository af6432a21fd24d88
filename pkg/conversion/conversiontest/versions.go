/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"math/rand"
	"testing"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/internal/testrand"
)

// Version is a version of a kind.
type Version struct {
	Name string
	// New makes an empty object.
	New func() apis.Convertible
	// Dropped are fields, as Type.Field, that are lost on purpose and never filled.
	Dropped []string
}

// Kind is a kind in all its versions.
type Kind struct {
	Versions []Version
	// Functions are for randfill, in addition to those that this package brings.
	Functions []any
}

// Test takes random objects of every version through every other one, and through every two others, and expects to get
// back what they were; and that going through another version changes nothing about where one arrives. Between two
// versions objects are JSON, as they are for a webhook. And it expects each field to hold something at some time.
func (k Kind) Test(t *testing.T) {
	t.Helper()
	source := testrand.Source(t)
	for _, a := range k.Versions {
		t.Run("every field of "+a.Name, func(t *testing.T) { k.covered(t, a) })
		for _, b := range k.Versions {
			if a.Name == b.Name {
				continue
			}
			t.Run(a.Name+" "+b.Name+" "+a.Name, func(t *testing.T) { k.there(t, source, a, b) })
			for _, c := range k.Versions {
				if c.Name != a.Name && c.Name != b.Name {
					t.Run(a.Name+" "+b.Name+" "+c.Name+" "+a.Name, func(t *testing.T) { k.around(t, source, a, b, c) })
				}
			}
		}
	}
}

// Random returns a function that makes random objects of a version as Test does, for tests that know what the fields mean.
func (k Kind) Random(t *testing.T) func(version Version) apis.Convertible {
	t.Helper()
	random := newFiller(testrand.Source(t), k.Functions)
	return func(version Version) apis.Convertible { return random.object(t, version) }
}

// there goes from a to b and back.
func (k Kind) there(t *testing.T, source rand.Source, a, b Version) {
	t.Helper()
	random := newFiller(source, k.Functions)
	for range testrand.Inputs(t) {
		object := random.object(t, a)
		before := canonical(t, object)

		other := b.New()
		convert(t, object, other)
		expectSamef(t, before, canonical(t, object), "the conversion changed its source")
		shown := canonical(t, other)
		expectSamef(t, before, canonical(t, converted(t, shown, b, a)), "by way of %s", shown)
		expectApart(t, object, other)

		// What only the hub is asked for, every version can do.
		reversed := b.New()
		if err := reversed.ConvertFrom(t.Context(), parsed(t, before, a)); err != nil {
			t.Fatalf("ConvertFrom: %v", err)
		}
		expectSamef(t, shown, canonical(t, reversed), "ConvertFrom and ConvertTo differ")
	}
}

// around goes from a through b to c and back to a.
func (k Kind) around(t *testing.T, source rand.Source, a, b, c Version) {
	t.Helper()
	random := newFiller(source, k.Functions)
	for range testrand.Inputs(t) {
		start := canonical(t, random.object(t, a))

		middle := canonical(t, converted(t, start, a, b))
		end := canonical(t, converted(t, middle, b, c))
		expectSamef(t, canonical(t, converted(t, start, a, c)), end, "the way by %s, where it is %s, leads elsewhere than the direct one", b.Name, middle)
		expectSamef(t, start, canonical(t, converted(t, end, c, a)), "by way of %s and %s", middle, end)
	}
}

// object makes an object as a webhook gets it: what JSON cannot tell apart is the same.
func (f *filler) object(t *testing.T, version Version) apis.Convertible {
	t.Helper()
	object := version.New()
	f.fill(object)
	return parsed(t, canonical(t, object), version)
}

// converted reads an object and converts it.
func converted(t *testing.T, text string, from, to Version) apis.Convertible {
	t.Helper()
	made := to.New()
	convert(t, parsed(t, text, from), made)
	return made
}

func convert(t *testing.T, from, to apis.Convertible) {
	t.Helper()
	if err := from.ConvertTo(t.Context(), to); err != nil {
		t.Fatalf("%s: %v", canonical(t, from), err)
	}
}

func parsed(t *testing.T, text string, version Version) apis.Convertible {
	t.Helper()
	object := version.New()
	if err := json.Unmarshal([]byte(text), object); err != nil {
		t.Fatalf("%s cannot read %s: %v", version.Name, text, err)
	}
	return object
}
