/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// Link is a struct of a version and what it becomes in the next one, as storage types.
type Link[Older, Newer any] struct {
	// Up and Down are the generated functions.
	Up   func(older *Older, newer *Newer) error
	Down func(older *Older, newer *Newer) error
	// Functions are for randfill, in addition to those that this package brings.
	Functions []any
}

// Test converts random structs there and back, from either end, and expects to get back what they were.
func (l Link[Older, Newer]) Test(t *testing.T) {
	t.Helper()
	t.Run("up and down", func(t *testing.T) {
		there(t, l.Functions, l.Up, l.Down)
	})
	t.Run("down and up", func(t *testing.T) {
		there(t, l.Functions,
			func(newer *Newer, older *Older) error { return l.Down(older, newer) },
			func(newer *Newer, older *Older) error { return l.Up(older, newer) })
	})
}

// there converts a random From to a To and back again.
func there[From, To any](t *testing.T, functions []any, forth, back func(*From, *To) error) {
	t.Helper()
	inputs := inputsOf(t, bytesOfLink, sizeOf(t, func() any { return new(From) }, functions))
	random := newFiller(testrand.SourceFor(t, inputs), functions)
	for range inputs {
		var first, again From
		var middle To
		if read, ok := random.fillValid(t, &first).(*From); ok {
			first = *read // as conversions meet it: a pointer to JSON that is null is nil
		}
		before := marshaled(t, &first)
		expectCopied(t, &first, before)

		if err := forth(&first, &middle); err != nil {
			t.Fatalf("from %s: %v", before, err)
		}
		expectSamef(t, before, marshaled(t, &first), changesSource)
		shown := marshaled(t, &middle)
		if err := back(&again, &middle); err != nil {
			t.Fatalf("back from %s: %v", shown, err)
		}
		expectSamef(t, shown, marshaled(t, &middle), changesSource)
		// A stash may write the JSON of a raw value in another way.
		expectSamef(t, canonical(t, &first), canonical(t, &again), "by way of %s", shown)

		overwrite(reflect.ValueOf(&again))
		expectSamef(t, shown, marshaled(t, &middle), sharesMemory, &again, &middle)
		overwrite(reflect.ValueOf(&middle))
		expectSamef(t, before, marshaled(t, &first), sharesMemory, &middle, &first)
	}
}

// marshaled is the JSON of an object. That of the same object is the same, and costs less than canonical JSON.
func marshaled(t *testing.T, object any) string {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// expectCopied expects the deep copy of a storage type to be the same, and to share no memory with it.
func expectCopied[T any](t *testing.T, object *T, before string) {
	t.Helper()
	var copied T
	copier, ok := any(object).(interface{ DeepCopyInto(dst *T) })
	if !ok {
		t.Fatalf("%T has no DeepCopyInto", object)
	}
	copier.DeepCopyInto(&copied)
	expectSamef(t, before, marshaled(t, &copied), "the deep copy differs")
	overwrite(reflect.ValueOf(&copied))
	expectSamef(t, before, marshaled(t, object), sharesMemory, &copied, object)
}
