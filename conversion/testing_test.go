/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"encoding/json"
	"testing"

	"github.com/mallard-dev/mallard/conversion"
)

// counted returns the value of a counter, in total or of one part.
func counted(t testing.TB, name, part string) int64 {
	t.Helper()
	sum := int64(0)
	for _, counter := range conversion.Counters() {
		for of, count := range counter.Counts() {
			if counter.Name == name && (part == "" || part == of) {
				sum += count
			}
		}
	}
	return sum
}

// expectCounted checks the increase of a counter during a function.
func expectCounted(t testing.TB, name, part string, want int64, meanwhile func()) {
	t.Helper()
	before := counted(t, name, part)
	meanwhile()
	if got := counted(t, name, part) - before; got != want {
		t.Errorf("%s %s rose by %d, want %d", name, part, got, want)
	}
}

// shown is a hub object as v1alpha1 shows it.
func shown(t testing.TB, hub *widget) *oldWidget {
	t.Helper()
	var old oldWidget
	if err := hub.ConvertTo(&old); err != nil {
		t.Fatalf("showing at v1alpha1: %v", err)
	}
	return &old
}

// stored is an object of v1alpha1 as the hub stores it.
func stored(t testing.TB, old *oldWidget) *widget {
	t.Helper()
	var hub widget
	if err := hub.ConvertFrom(old); err != nil {
		t.Fatalf("storing at v1: %v", err)
	}
	return &hub
}

func jsonOf(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decoded[T any](t testing.TB, text string) *T {
	t.Helper()
	object := new(T)
	if err := json.Unmarshal([]byte(text), object); err != nil {
		t.Fatal(err)
	}
	return object
}

func expectJSON(t testing.TB, got, want any) {
	t.Helper()
	if g, w := jsonOf(t, got), jsonOf(t, want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}
