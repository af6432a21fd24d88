/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

const (
	// maxKeys bounds for how many objects triggers are remembered, a few hundred bytes each.
	maxKeys = 1 << 16
	// maxTriggers is how many different triggers of one reconciliation its span names.
	maxTriggers = 8
)

// trigger is why an object was enqueued: the cause, the kind or ConfigMap it is about, and the object. Only the cause is always set.
type trigger struct {
	cause          Cause
	source, object string
}

// String is for people: "updated Service default/target".
func (t trigger) String() string {
	return strings.Join(strings.Fields(string(t.cause)+" "+t.source+" "+t.object), " ")
}

// memory holds why objects are in the queue. It may be used by several goroutines.
type memory struct {
	triggers int

	mu sync.Mutex
	// noted has the different triggers since an object's last reconciliation began, of type []trigger.
	noted *lru.Cache
	// planned has the trigger that the last reconciliation left behind, a retry or a requeue, which may be due much later. Events in
	// between lead to reconciliations of their own.
	planned *lru.Cache
}

func newMemory(keys, triggers int) *memory {
	return &memory{triggers: triggers, noted: lru.New(keys), planned: lru.New(keys)}
}

// note must be called before the object is put into the queue.
func (m *memory) note(key types.NamespacedName, why trigger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, _ := m.noted.Get(key)
	noted, _ := known.([]trigger)
	if len(noted) < m.triggers && !slices.Contains(noted, why) {
		m.noted.Add(key, append(noted, why))
	}
}

// plan notes what a reconciliation that has ended leaves behind.
func (m *memory) plan(key types.NamespacedName, why trigger) { m.planned.Add(key, why) }

// take returns why the reconciliation that begins takes place, and forgets it.
func (m *memory) take(key types.NamespacedName) []trigger {
	m.mu.Lock()
	defer m.mu.Unlock()
	if noted, ok := m.noted.Get(key); ok {
		m.noted.Remove(key)
		return noted.([]trigger) //nolint:forcetypeassert // see note
	}
	if planned, ok := m.planned.Get(key); ok {
		m.planned.Remove(key)
		return []trigger{planned.(trigger)} //nolint:forcetypeassert // see plan
	}
	return []trigger{{cause: Other}}
}
