/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"slices"
	"strconv"
	"strings"
)

// identity is what the name of a node says of its element in a list without keys: "<index>:<fingerprint>".
type identity struct {
	index       int
	fingerprint string
	// child is which of its parent's children the node is.
	child int
	found bool
}

func parseIdentity(name string) (identity, bool) {
	index, fingerprint, ok := strings.Cut(name, ":")
	i, err := strconv.Atoi(index)
	return identity{index: i, fingerprint: fingerprint}, ok && err == nil && i >= 0
}

// match finds the child of each element, or -1. The children are of all elements that there were.
func match(children []node, elements []string) []int {
	m := matching{elements: elements, child: slices.Repeat([]int{-1}, len(elements))}
	for i, n := range children {
		if id, ok := parseIdentity(n.name); ok {
			id.child = i
			m.stashed = append(m.stashed, id)
		}
	}
	slices.SortStableFunc(m.stashed, func(a, b identity) int { return a.index - b.index })
	m.unmoved()
	// Places mean something only as long as nothing was inserted, deleted or moved.
	if moved := m.moved(); !moved && len(m.stashed) == len(elements) {
		m.edited()
	}
	return m.child
}

type matching struct {
	// elements are the fingerprints of the list's elements. An empty one is like no other.
	elements []string
	// child is that of each element, or -1.
	child []int
	// stashed are in the order of their places.
	stashed []identity
}

// unmoved finds the same content at the same place.
func (m *matching) unmoved() {
	for i := range m.stashed {
		id := &m.stashed[i]
		if m.isFree(id.index) && id.fingerprint != "" && id.fingerprint == m.elements[id.index] {
			m.found(id, id.index)
		}
	}
}

// moved finds the same content at other places. Copies that are as many as before are in the same order as before.
func (m *matching) moved() (some bool) {
	places, left := map[string][]int{}, map[string][]*identity{}
	for at, fingerprint := range m.elements {
		if m.isFree(at) {
			places[fingerprint] = append(places[fingerprint], at)
		}
	}
	for i := range m.stashed {
		if id := &m.stashed[i]; !id.found {
			left[id.fingerprint] = append(left[id.fingerprint], id)
		}
	}
	for fingerprint, ids := range left {
		if fingerprint == "" || len(ids) != len(places[fingerprint]) {
			continue
		}
		for i, id := range ids {
			m.found(id, places[fingerprint][i])
			some = true
		}
	}
	return some
}

// edited takes what is at the same place for the same element.
func (m *matching) edited() {
	for i := range m.stashed {
		if id := &m.stashed[i]; !id.found && m.isFree(id.index) {
			m.found(id, id.index)
		}
	}
}

func (m *matching) isFree(at int) bool { return at < len(m.child) && m.child[at] < 0 }

func (m *matching) found(id *identity, at int) {
	id.found, m.child[at] = true, id.child
}
