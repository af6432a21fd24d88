/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"knative.dev/pkg/controller"
)

// backlog holds keys in the order in which they were added, each once. It may be used by several goroutines.
type backlog struct {
	impl *controller.Impl

	mu      sync.Mutex
	waiting sets.Set[types.NamespacedName]
	order   []types.NamespacedName
}

// newBacklog returns an empty backlog for the queue of a controller. Feed has to be called whenever a reconciliation ends.
func newBacklog(impl *controller.Impl) *backlog {
	return &backlog{impl: impl, waiting: sets.New[types.NamespacedName]()}
}

// Add enqueues a key once the queue is short.
func (b *backlog) Add(key types.NamespacedName) {
	b.mu.Lock()
	if !b.waiting.Has(key) {
		b.waiting.Insert(key)
		b.order = append(b.order, key)
	}
	b.mu.Unlock()
	b.Feed()
}

// Feed moves keys into the queue while it is shorter than the number of workers. A queue that is shut down drops them.
func (b *backlog) Feed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.order) > 0 && b.impl.WorkQueue().Len() < b.impl.Concurrency {
		key := b.order[0]
		b.order = b.order[1:]
		b.waiting.Delete(key)
		b.impl.EnqueueKey(key)
	}
}

// Drop removes the keys that a filter accepts: another process reconciles them now.
func (b *backlog) Drop(filter func(types.NamespacedName) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order = slices.DeleteFunc(b.order, filter)
	b.waiting = sets.New(b.order...)
}
