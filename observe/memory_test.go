/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"slices"
	"strconv"
	"testing"
)

// expectTaken checks why the next reconciliation of an object takes place.
func expectTaken(t *testing.T, m *memory, name string, want ...string) {
	t.Helper()
	var got []string
	for _, why := range m.take(named(name)) {
		got = append(got, why.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the triggers of %s are %q, want %q", name, got, want)
	}
}

func TestMemory_Triggers_AreNamedOnceUpToALimit(t *testing.T) {
	m := newMemory(10, 2)
	updated := trigger{cause: causeUpdated, source: "Service", object: "ns/target"}
	m.note(named("a"), updated)
	m.note(named("a"), trigger{cause: Configured, source: "config-x"})
	m.note(named("a"), updated)
	m.note(named("a"), trigger{cause: causeDeleted, source: "Service", object: "ns/third"})
	m.note(named("b"), updated)

	expectTaken(t, m, "a", "updated Service ns/target", "configured config-x")
	expectTaken(t, m, "a", "other")
	expectTaken(t, m, "b", "updated Service ns/target")
}

func TestMemory_EventBeforeRetry_RetryIsNamedWhenItIsDue(t *testing.T) {
	m := newMemory(10, 2)
	m.plan(named("a"), trigger{cause: causeRetried})
	m.note(named("a"), trigger{cause: causeAdded, source: "Service"})
	expectTaken(t, m, "a", "added Service")
	expectTaken(t, m, "a", "retried")
	expectTaken(t, m, "a", "other")
}

func TestMemory_ManyObjects_IsBounded(t *testing.T) {
	const limit = 100
	m := newMemory(limit, 3)
	for i := range 10 * limit {
		key := named(strconv.Itoa(i))
		m.note(key, trigger{cause: causeUpdated})
		m.plan(key, trigger{cause: causeRetried})
	}
	if m.noted.Len() != limit || m.planned.Len() != limit {
		t.Errorf("%d noted and %d planned triggers are remembered, want %d of each", m.noted.Len(), m.planned.Len(), limit)
	}
	newest := strconv.Itoa(10*limit - 1)
	expectTaken(t, m, newest, "updated")
	expectTaken(t, m, newest, "retried")
}
