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

// memory is what a process knows of one object and finds nowhere else. One reconciliation at a time uses it.
type memory struct {
	// ended holds the Pods that have ended.
	ended map[types.UID]ending
	// taken are the slots whose names other Pods have.
	taken map[int]bool
}

// ending is what is known of a Pod that has ended.
type ending struct {
	// first is when it was first seen so. The Pod's own times are those of another clock.
	first time.Time
	// rejected is whether the API server refused to delete it.
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

// reject notes that the API server refused to delete a Pod that has ended.
func (m *memory) reject(p pod) {
	p.ending.rejected = true
	m.ended[p.uid] = p.ending
}
