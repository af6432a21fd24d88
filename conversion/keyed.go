/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"maps"
	"slices"
)

// Place is the place of an element in a list that is a map in another version. The bag of that version keeps the places.
type Place[E any] struct {
	Key string `json:"k,omitempty"`
	// Element is one that the map does not have: it has no key, or that of an element before it.
	Element *E `json:"e,omitempty"`
}

// OrderOf returns the places of all elements of a list, or nil if the map alone shows them: each has a distinct key, and the list is sorted by these.
func OrderOf[E any](list []E, key func(*E) *string) []Place[E] {
	var order []Place[E]
	seen := make(map[string]bool, len(list))
	isSorted, last := true, ""
	for i := range list {
		at := key(&list[i])
		if at == nil || seen[*at] {
			order, isSorted = append(order, Place[E]{Element: &list[i]}), false
			continue
		}
		isSorted = isSorted && last <= *at
		order, seen[*at], last = append(order, Place[E]{Key: *at}), true, *at
	}
	if isSorted {
		return nil
	}
	return order
}

// InOrder makes a list of the elements of a map. Those that have no place follow the others, sorted by their keys. An element that the map
// does not have is dropped with the one of the same key.
func InOrder[E any](elements map[string]E, order []Place[E], key func(*E) *string) []E {
	list := make([]E, 0, len(elements))
	seen := make(map[string]bool, len(elements))
	for _, place := range order {
		if place.Element != nil {
			if at := key(place.Element); at == nil || seen[*at] {
				list = append(list, *place.Element)
			}
			continue
		}
		if element, isThere := elements[place.Key]; isThere && !seen[place.Key] {
			list, seen[place.Key] = append(list, element), true
		}
	}
	for _, at := range slices.Sorted(maps.Keys(elements)) {
		if !seen[at] {
			list = append(list, elements[at])
		}
	}
	return list
}
