/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/client-go/tools/cache"
)

// Lister reads the cache of a source. The objects are shared with it, so they must not be changed.
type Lister[T Object] struct{ indexer func() cache.Indexer }

// Lister returns a Lister of the source, for reconcilers and handlers. A source that injection does not run has no objects while nothing observes
// it. ctx is the context of the process or of one of its controllers; with another one, and for a Duck, Lister panics.
func (s Source[T]) Lister(ctx context.Context) Lister[T] {
	if s.injected != nil {
		return Lister[T]{s.injected(ctx).GetIndexer}
	}
	if s.ducks != nil {
		panic(fmt.Sprintf("the source %s has no cache", s.name))
	}
	h, err := hubFrom(ctx)
	if err != nil {
		panic(fmt.Sprintf("listing %s: %v", s.name, err))
	}
	return Lister[T]{func() cache.Indexer {
		h.mu.Lock()
		defer h.mu.Unlock()
		if informer, ok := h.informers[s.key.in(h.ctx)]; ok {
			return informer.GetIndexer()
		}
		return s.NewIndexer()
	}}
}

// NewLister returns a Lister of a cache, for tests.
func NewLister[T Object](indexer cache.Indexer) Lister[T] {
	return Lister[T]{func() cache.Indexer { return indexer }}
}

// List returns the objects that accept accepts. nil accepts all.
func (l Lister[T]) List(accept func(T) bool) []T { return typed(l.indexer().List(), accept) }

// NewIndexer returns an empty cache with the indexes of the source, for tests.
func (s Source[T]) NewIndexer() cache.Indexer {
	all := indexers()
	maps.Copy(all, s.indexers)
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, all)
}
