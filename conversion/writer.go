/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

// Writer is a place in the future stash of an API object that is created from its storage type. It follows
// the object as Reader does. What remains empty is not written. The zero Writer discards all values.
type Writer struct{ node *node }

// NewWriter begins a new annotation, for Annotation.Store.
func NewWriter() Writer { return Writer{&node{}} }

// Field goes to a field of a struct, by its JSON name, or its Go name if it is inlined. It must be called once for each.
func (w Writer) Field(jsonName string) Writer { return w.add(jsonName) }

// Key goes to the value of a map. It must be called once for each key.
func (w Writer) Key(key string) Writer { return w.add(key) }

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

func (w Writer) add(name string) Writer {
	if w.node == nil {
		return Writer{}
	}
	if w.node.Children == nil {
		w.node.Children = map[string]*node{}
	}
	child := &node{}
	w.node.Children[name] = child
	return Writer{child}
}
