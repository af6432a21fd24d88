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
type Lister[T Object] struct{ cached }

// cached is the part of cache.Indexer that a Lister reads.
type cached interface {
	List() []any
	ByIndex(index, value string) ([]any, error)
}

// Lister returns a Lister of the source, for reconcilers and handlers. A source that injection does not run has no objects while nothing observes
// it. ctx is the context of the process or of one of its controllers; with another one, and for a Duck, Lister panics.
func (s Source[T]) Lister(ctx context.Context) Lister[T] {
	if s.build == nil {
		informer, ok := s.injected(ctx).(cache.SharedIndexInformer)
		if !ok {
			panic(fmt.Sprintf("the source %s has no cache", s.name))
		}
		return Lister[T]{informer.GetIndexer()}
	}
	h, err := hubFrom(ctx)
	if err != nil {
		panic(fmt.Sprintf("listing %s: %v", s.name, err))
	}
	return Lister[T]{observed[T]{h, s}}
}

// NewLister returns a Lister of a cache, for tests.
func NewLister[T Object](indexer cache.Indexer) Lister[T] { return Lister[T]{indexer} }

// List returns the objects that accept accepts. nil accepts all.
func (l Lister[T]) List(accept func(T) bool) []T { return typed(l.cached.List(), accept) }

// NewIndexer returns an empty cache with the indexes of the source, for tests.
func (s Source[T]) NewIndexer() cache.Indexer {
	all := indexers()
	maps.Copy(all, s.indexers)
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, all)
}

// observed is the cache of a source that has an informer only while it is observed.
type observed[T Object] struct {
	hub    *hub
	source Source[T]
}

func (o observed[T]) indexer() cache.Indexer {
	if informer := o.hub.informer(o.source.key); informer != nil {
		return informer.GetIndexer()
	}
	return o.source.NewIndexer()
}

// List implements cached.
func (o observed[T]) List() []any { return o.indexer().List() }

// ByIndex implements cached.
func (o observed[T]) ByIndex(index, value string) ([]any, error) {
	return o.indexer().ByIndex(index, value) //nolint:wrapcheck // the caller names the index
}
