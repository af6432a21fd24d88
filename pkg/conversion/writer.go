/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

// Writer is a place in what is going to be stashed beside an API object that is made from its storage type. It follows
// the object as Reader does. What remains empty is not written. The zero Writer forgets what it is told.
type Writer struct {
	tree *draft
	at   int
}

// draft is an annotation in the making. Parents come before their children.
type draft struct {
	nodes []draftNode
	lists []identifier
}

type draftNode struct {
	parent, depth int
	name          string
	// list is the one that this is an element of, as an index into lists, if it is one. Then its name is found out at the
	// end, when the element is complete, from its index.
	list, index  int
	bag          PropertyBag
	zero, absent []string
}

// noList is the list of a node that is no element of one.
const noList = -1

// NewWriter begins a new annotation, for Annotation.Store.
func NewWriter() Writer {
	const usual = 8
	nodes := make([]draftNode, 1, usual)
	nodes[0].list = noList
	return Writer{tree: &draft{nodes: nodes}}
}

// Field goes to a field of a struct, by its JSON name, or its Go name if it is inlined. It is to be called once for each.
func (w Writer) Field(jsonName string) Writer { return w.add(draftNode{name: jsonName, list: noList}) }

// Key goes to the value of a map. It is to be called once for each key.
func (w Writer) Key(key string) Writer { return w.add(draftNode{name: key, list: noList}) }

// SetBag stashes the bag of the storage struct here.
func (w Writer) SetBag(bag PropertyBag) {
	if w.tree != nil {
		w.node().bag = bag
	}
}

// MarkZero notes that the zero value of a field is there, although the API type leaves it out.
func (w Writer) MarkZero(jsonName string) {
	if w.tree != nil {
		w.node().zero = append(w.node().zero, jsonName)
	}
}

// MarkAbsent notes that a field is absent, although the API type writes it always.
func (w Writer) MarkAbsent(jsonName string) {
	if w.tree != nil {
		w.node().absent = append(w.node().absent, jsonName)
	}
}

func (w Writer) node() *draftNode { return &w.tree.nodes[w.at] }

func (w Writer) add(n draftNode) Writer {
	if w.tree == nil {
		return Writer{}
	}
	n.parent, n.depth = w.at, w.node().depth+1
	w.tree.nodes = append(w.tree.nodes, n)
	return Writer{tree: w.tree, at: len(w.tree.nodes) - 1}
}
