/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// identity holds the known properties of an element of a list without keys (see placeNames).
type identity struct {
	index int
	// fingerprint is empty for what cannot be marshaled, and then like no other.
	fingerprint string
	// stashed is nil for elements of the present list.
	stashed *node
}

// matching finds for each element of a list without keys what was stashed for it.
type matching struct {
	// found holds the stash of each element, or nil.
	found []*node
	// before and now are the elements that were not found yet, in their order.
	before, now []identity
}

// match returns the child of each element, or nil. Children have the names of elements that there were.
func match(children map[string]*node, fingerprints []string) []*node {
	m := matching{found: make([]*node, len(fingerprints)), before: identities(children)}
	for i, fingerprint := range fingerprints {
		m.now = append(m.now, identity{index: i, fingerprint: fingerprint})
	}
	sameLength := len(m.before) == len(m.now)
	m.find(identity.contentAndPlace)
	moved := m.find(identity.content)
	// Places mean something only as long as nothing was inserted, deleted or moved.
	if sameLength && !moved {
		m.find(identity.place)
	}
	return m.found
}

func (id identity) place() string { return strconv.Itoa(id.index) }

func (id identity) content() string { return id.fingerprint }

func (id identity) contentAndPlace() string {
	if id.fingerprint == "" {
		return ""
	}
	return id.place() + ":" + id.fingerprint
}

func identities(children map[string]*node) []identity {
	var all []identity
	for _, name := range slices.Sorted(maps.Keys(children)) {
		index, fingerprint, ok := strings.Cut(name, ":")
		if i, err := strconv.Atoi(index); ok && err == nil && i >= 0 {
			all = append(all, identity{i, fingerprint, children[name]})
		}
	}
	slices.SortStableFunc(all, func(a, b identity) int { return a.index - b.index })
	return all
}

// find takes elements for the same that have the same label now as before, unless it is empty. Several with one label are
// still in the same order if they are as many; otherwise it is ambiguous which is which.
func (m *matching) find(label func(identity) string) (some bool) {
	before, now := grouped(m.before, label), grouped(m.now, label)
	isFound := func(id identity) bool {
		l := label(id)
		return l != "" && len(before[l]) == len(now[l])
	}
	for l, ids := range now {
		for i, id := range ids {
			if isFound(id) {
				m.found[id.index], some = before[l][i].stashed, true
			}
		}
	}
	m.before, m.now = slices.DeleteFunc(m.before, isFound), slices.DeleteFunc(m.now, isFound)
	return some
}

func grouped(ids []identity, label func(identity) string) map[string][]identity {
	groups := map[string][]identity{}
	for _, id := range ids {
		groups[label(id)] = append(groups[label(id)], id)
	}
	return groups
}
