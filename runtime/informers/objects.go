/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package informers

import (
	"fmt"

	"k8s.io/client-go/tools/cache"
)

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
