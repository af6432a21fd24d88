/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// memories holds a memory for each SimpleDeployment, by UID.
type memories struct{ byUID sync.Map }

// memory holds the state of one object that only this process knows. One reconciliation at a time uses it.
type memory struct {
	// ended holds the Pods that have ended.
	ended map[types.UID]ending
	// taken are the slots whose names other Pods have.
	taken map[int]bool
	// deleted reports whether the namespace is being deleted, which cannot be undone: no Pod can be created.
	deleted bool
}

// ending holds the state of a Pod that has terminated.
type ending struct {
	// first is the time at which it was first seen terminated. The Pod's own times are those of another clock.
	first time.Time
	// rejected reports whether the API server rejected its deletion.
	rejected bool
}

func (m *memories) of(uid types.UID) *memory {
	known, _ := m.byUID.LoadOrStore(uid, &memory{taken: map[int]bool{}})
	return known.(*memory) //nolint:forcetypeassert // nothing else is stored
}

func (m *memories) forget(uid types.UID) { m.byUID.Delete(uid) }

// see notes the Pods that have ended, and forgets all others.
func (m *memory) see(pods []pod, now time.Time) {
	ended := make(map[types.UID]ending)
	for i := range pods {
		if pods[i].class != finished {
			continue
		}
		known, seen := m.ended[pods[i].uid]
		if !seen {
			known.first = now
		}
		ended[pods[i].uid], pods[i].ending = known, known
	}
	m.ended = ended
}

// reject notes that the API server rejected the deletion of a terminated Pod.
func (m *memory) reject(p pod) {
	p.ending.rejected = true
	m.ended[p.uid] = p.ending
}
