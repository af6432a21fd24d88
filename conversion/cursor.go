/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import "slices"

// Reader is a place in the stash of an API object that is being converted to its storage type. It follows the
// object: from.Field("spec").Field("retries") is what is stashed for spec.retries. Without a stash, the Reader is empty, and everything below it,
// too, so that callers need not check. The zero Reader is empty.
type Reader struct{ node *node }

// Field goes to a field of a struct, by its JSON name, or its Go name if it is inlined. The stash of fields that are never read is dropped, for
// example because the struct has become nil.
func (r Reader) Field(jsonName string) Reader {
	if r.node == nil {
		return Reader{}
	}
	return Reader{r.node.Children[jsonName]}
}

// Key goes to the value of a map.
func (r Reader) Key(key string) Reader { return r.Field(key) }

// Bag is the bag for the storage struct here.
func (r Reader) Bag() PropertyBag {
	if r.node == nil {
		return nil
	}
	return r.node.Entries.Clone().OrNil()
}

// IsEmpty reports whether nothing is stashed here, nor for anything below.
func (r Reader) IsEmpty() bool { return r.node == nil }

// WasZero reports whether the zero value of a field was set, although the API type leaves zero values out. A client that
// sees no such field and sends none means what it was.
func (r Reader) WasZero(jsonName string) bool {
	return r.node != nil && slices.Contains(r.node.Zero, jsonName)
}

// WasAbsent reports whether a field was absent, although the API type writes it always.
func (r Reader) WasAbsent(jsonName string) bool {
	return r.node != nil && slices.Contains(r.node.Absent, jsonName)
}

// Writer is a place in the future stash of an API object that is created from its storage type. It follows
// the object as Reader does. What remains empty is not written. The zero Writer discards all values.
type Writer struct{ node *node }

// NewWriter begins a new annotation, for Annotation.Store.
func NewWriter() Writer { return Writer{&node{}} }

// Field goes to a field of a struct, by its JSON name, or its Go name if it is inlined. It must be called once for each.
func (w Writer) Field(jsonName string) Writer {
	if w.node == nil {
		return Writer{}
	}
	if w.node.Children == nil {
		w.node.Children = map[string]*node{}
	}
	child := &node{}
	w.node.Children[jsonName] = child
	return Writer{child}
}

// Key goes to the value of a map. It must be called once for each key.
func (w Writer) Key(key string) Writer { return w.Field(key) }

// SetBag stashes the bag of the storage struct here.
func (w Writer) SetBag(bag PropertyBag) {
	if w.node != nil {
		w.node.Entries = bag
	}
}

// MarkZero notes that the zero value of a field is set, although the API type leaves it out.
func (w Writer) MarkZero(jsonName string) {
	if w.node != nil {
		w.node.Zero = append(w.node.Zero, jsonName)
	}
}

// MarkAbsent notes that a field is absent, although the API type writes it always.
func (w Writer) MarkAbsent(jsonName string) {
	if w.node != nil {
		w.node.Absent = append(w.node.Absent, jsonName)
	}
}
