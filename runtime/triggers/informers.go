/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// Setup adds indexers, a transform and handlers to an informer; nil stands for none of them. A controller calls it when
// it is made: once the informer runs, no transform can be set. The controllers of a process share its informers, so two
// that add an index of the same name get an error, and of two transforms the later one alone counts.
func Setup(informer cache.SharedIndexInformer, indexers cache.Indexers, transform cache.TransformFunc, handlers ...cache.ResourceEventHandler) error {
	if indexers != nil {
		if err := informer.AddIndexers(indexers); err != nil {
			return fmt.Errorf("adding indexers: %w", err)
		}
	}
	if transform != nil {
		if err := informer.SetTransform(transform); err != nil {
			return fmt.Errorf("setting the transform: %w", err)
		}
	}
	for _, h := range handlers {
		if _, err := informer.AddEventHandler(h); err != nil {
			return fmt.Errorf("adding an event handler: %w", err)
		}
	}
	return nil
}

// DropManagedFields is a cache.TransformFunc. Managed fields are often the larger part of an object and are read by
// nobody here. What is no object, such as a tombstone, stays as it is.
func DropManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

// ObjectOf returns the object of an event, if it is of a type. A deletion that happened while the watch was down arrives as a
// cache.DeletedFinalStateUnknown, which the filters of knative.dev/pkg drop; ObjectOf returns the last known state.
func ObjectOf[T any](obj any) (T, bool) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	typed, ok := obj.(T)
	return typed, ok
}

// IndexBy returns an index function for objects of a type.
func IndexBy[T any](values func(T) []string) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		if typed, ok := obj.(T); ok {
			return values(typed), nil
		}
		return nil, nil
	}
}

// Indexed returns the objects of a type that an index finds. An index that was not added is a mistake of the program, and panics.
func Indexed[T any](indexer cache.Indexer, index, value string) []T {
	objs, err := indexer.ByIndex(index, value)
	if err != nil {
		panic(fmt.Sprintf("index %s: %v", index, err))
	}
	found := make([]T, 0, len(objs))
	for _, obj := range objs {
		if typed, ok := obj.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}
