/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Remove removes a key: there is nothing to be done for it any more.
func (b *backlog) Remove(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting.Delete(key)
	if len(b.order)-b.first > 2*b.waiting.Len()+mostStale {
		b.compact()
	}
}

// Drop removes the keys that a filter accepts: another process reconciles them now.
func (b *backlog) Drop(filter func(types.NamespacedName) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.waiting {
		if filter(key) {
			b.waiting.Delete(key)
		}
	}
	b.compact()
}

// compact removes keys that do not wait, and repetitions of those that do. It is called with the lock.
func (b *backlog) compact() {
	kept := sets.New[types.NamespacedName]()
	b.order = slices.DeleteFunc(b.order[b.first:], func(key types.NamespacedName) bool {
		stale := !b.waiting.Has(key) || kept.Has(key)
		kept.Insert(key)
		return stale
	})
	b.first = 0
}
