/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"slices"
	"strings"
)

// Reader is a place in what is stashed beside an API object that is being turned into its storage type. It follows the
// object: from.Field("spec").Field("retries") is what is stashed for spec.retries. Where nothing is stashed, the Reader
// is empty, and everything below it too, so that nobody has to ask. The zero Reader is empty.
type Reader struct {
	tree *tree
	at   int
}

// Field goes to a field of a struct, by its JSON name, or its Go name if it is inlined. What is stashed for fields that
// are never asked for is dropped, for example because the struct has become nil: it goes with them.
func (r Reader) Field(jsonName string) Reader { return r.child(jsonName) }

// Key goes to the value of a map.
func (r Reader) Key(key string) Reader { return r.child(key) }

// Bag is the bag for the storage struct here.
func (r Reader) Bag() PropertyBag {
	if r.tree == nil {
		return nil
	}
	entries := r.tree.nodes[r.at].entries
	var bag PropertyBag
	for _, p := range r.tree.entries[entries.from:entries.to] {
		if isRetired(p.key, r.tree.retired) {
			continue
		}
		if bag == nil {
			bag = make(PropertyBag, entries.to-entries.from)
		}
		bag[p.key] = p.entry
	}
	return bag
}

// IsEmpty is whether nothing is stashed here, nor for anything below.
func (r Reader) IsEmpty() bool { return r.tree == nil }

// WasZero is whether the zero value of a field was there, although the API type leaves zero values out. A client that
// sees no such field and sends none means what it was.
func (r Reader) WasZero(jsonName string) bool {
	return r.tree != nil && isMarked(r.tree.nodes[r.at].zero, jsonName)
}

// WasAbsent is whether a field was absent, although the API type writes it always.
func (r Reader) WasAbsent(jsonName string) bool {
	return r.tree != nil && isMarked(r.tree.nodes[r.at].absent, jsonName)
}

func isMarked(array, name string) bool {
	if array == "" {
		return false
	}
	for quoted := range elements(array) {
		if unquoted(quoted) == name {
			return true
		}
	}
	return false
}

func (r Reader) child(name string) Reader {
	if r.tree == nil {
		return Reader{}
	}
	children := r.children()
	i, ok := slices.BinarySearchFunc(children, name, func(n node, name string) int { return strings.Compare(n.name, name) })
	if !ok {
		return Reader{}
	}
	return Reader{tree: r.tree, at: r.tree.nodes[r.at].children.from + i}
}

func (r Reader) children() []node {
	children := r.tree.nodes[r.at].children
	return r.tree.nodes[children.from:children.to]
}
