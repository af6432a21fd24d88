/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"slices"
	"strconv"
	"testing"
)

func TestEveryCauseOfAPassIsNamedOrCounted(t *testing.T) {
	m := newMemory(10, 2)
	a := named("a")
	updated := Cause{What: Updated, Source: "Service", Object: "ns/target"}
	m.note(a, updated)
	m.note(a, Cause{What: Configured, Source: "config-x"})
	m.note(a, updated)
	m.note(a, Cause{What: Deleted, Source: "Service", Object: "ns/third"})
	m.note(a, Cause{What: Deleted, Source: "Service", Object: "ns/fourth"})
	m.note(named("b"), updated)

	want := []string{"updated Service ns/target (2 times)", "configured config-x", "2 more"}
	if got := m.take(a).strings(); !slices.Equal(got, want) {
		t.Errorf("the causes are %q, want %q", got, want)
	}
	if got := m.take(a).strings(); !slices.Equal(got, []string{"other"}) {
		t.Errorf("the causes of a second pass are %q, want only other", got)
	}
	if got := m.take(named("b")).strings(); !slices.Equal(got, []string{"updated Service ns/target"}) {
		t.Errorf("the causes of another object are %q", got)
	}
}

func TestAPlannedWakeIsToldWhenItComes(t *testing.T) {
	m := newMemory(10, 2)
	a := named("a")
	m.plan(a, Cause{What: Retried})
	// An event comes before the retry is due, and is what the next pass is about.
	m.note(a, Cause{What: Added, Source: "Service"})
	if got := m.take(a).strings(); !slices.Equal(got, []string{"added Service"}) {
		t.Errorf("the causes are %q", got)
	}
	if got := m.take(a).strings(); !slices.Equal(got, []string{"retried"}) {
		t.Errorf("when the retry is due the causes are %q", got)
	}
	if got := m.take(a).strings(); !slices.Equal(got, []string{"other"}) {
		t.Errorf("after the retry the causes are %q", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	const limit = 100
	m := newMemory(limit, 3)
	for i := range 10 * limit {
		key := named(strconv.Itoa(i))
		for j := range 10 {
			m.note(key, Cause{What: Updated, Source: strconv.Itoa(j)})
		}
		m.plan(key, Cause{What: Retried})
	}
	if len(m.noted) != limit || m.planned.Len() != limit {
		t.Errorf("there are %d noted and %d planned wakes, want %d of each", len(m.noted), m.planned.Len(), limit)
	}
	for _, w := range m.noted {
		if len(w.causes) != 3 || w.more != 7 {
			t.Fatalf("an object has %d causes and %d more", len(w.causes), w.more)
		}
	}
	// The last plan is kept whatever has to go for it.
	if _, ok := m.planned.Get(named(strconv.Itoa(10*limit - 1))); !ok {
		t.Error("the newest plan was dropped")
	}
	// Waiting objects leave, and make room.
	for key := range m.noted {
		m.take(key)
	}
	m.note(named("new"), Cause{What: Added})
	if got := m.take(named("new")).strings(); !slices.Equal(got, []string{"added"}) {
		t.Errorf("after room was made the causes are %q", got)
	}
}
