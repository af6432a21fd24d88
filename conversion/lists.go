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

// Key is a key function's result for an element that is told from others by several fields, or by one that is no
// string: map keys of a list as in +listMapKey, in their order.
func Key(parts ...any) string {
	if len(parts) == 1 {
		if s, ok := parts[0].(string); ok {
			return s
		}
	}
	// Strings, numbers and booleans can be marshaled.
	key, _ := Canonical(parts)
	return string(key)
}

// Readers are the Readers of the elements of a list.
type Readers struct{ nodes []*node }

// At is the Reader of an element.
func (r Readers) At(index int) Reader {
	if r.nodes == nil {
		return Reader{}
	}
	return Reader{r.nodes[index]}
}

// ReadList finds for each element of a list what is stashed for it, wherever the element was when that was
// stashed. The key tells elements from each other; keys that are not unique tell the first from the second.
//
// Elements without a key (nil) are known by their place and their content. In this order: the same content at the same
// place; the same content at another place, unless copies of it make that ambiguous; and, if nothing was moved and the
// list is as long as it was, whatever is at the same place, which then was edited. The stash of an element that is not found is dropped: the element
// was deleted.
func ReadList[E any](from Reader, list []E, key func(*E) string) Readers {
	if from.node == nil || len(from.node.Children) == 0 {
		return Readers{}
	}
	if key == nil {
		return Readers{match(from.node.Children, fingerprints(list))}
	}
	nodes := make([]*node, len(list))
	for i, name := range keyNames(list, key) {
		nodes[i] = from.node.Children[name]
	}
	return Readers{nodes}
}

// Writers are the Writers of the elements of a list.
type Writers struct{ elements *elements }

// At is the Writer of an element. It must be called once for each.
func (w Writers) At(index int) Writer {
	if w.elements == nil {
		return Writer{}
	}
	element := &node{}
	w.elements.nodes[index] = element
	return Writer{element}
}

// WriteList is ReadList's counterpart. The list is that of the API object, with its final length; its elements need not
// be complete before Annotation.Store is called.
func WriteList[E any](to Writer, list []E, key func(*E) string) Writers {
	if to.node == nil {
		return Writers{}
	}
	all := &elements{nodes: make([]*node, len(list)), names: func() []string { return keyNames(list, key) }}
	if key == nil {
		all.names, all.needsAll = func() []string { return placeNames(list) }, true
	}
	to.node.elements = all
	return Writers{all}
}

// elements are those of a list that is being written.
type elements struct {
	// nodes are nil for elements whose Writer was not requested.
	nodes []*node
	// names returns those of all elements, once these are complete.
	names func() []string
	// needsAll reports whether names have to be noted also for elements without a stash.
	needsAll bool
}

// settle returns the nodes by name, without those that are empty. If a name contains the place, all names are needed to find an element
// later, so all are kept if any element has a stash.
func (e *elements) settle() map[string]*node {
	isFilled := make([]bool, len(e.nodes))
	for i, n := range e.nodes {
		isFilled[i] = n != nil && n.settle()
	}
	if !slices.Contains(isFilled, true) {
		return nil
	}
	all := map[string]*node{}
	for i, name := range e.names() {
		if isFilled[i] || e.needsAll && e.nodes[i] != nil {
			all[name] = e.nodes[i]
		}
	}
	return all
}

// keyNames are the keys. A second element with the same key, which an API server rejects, is "key~2". A ~ in
// a key is written as ~0, as in a JSON pointer.
func keyNames[E any](list []E, key func(*E) string) []string {
	names := make([]string, len(list))
	seen := make(map[string]int, len(list))
	for i := range list {
		name := strings.ReplaceAll(key(&list[i]), "~", "~0")
		seen[name]++
		if times := seen[name]; times > 1 {
			name += "~" + strconv.Itoa(times)
		}
		names[i] = name
	}
	return names
}

// placeNames are "<index>:<fingerprint>".
func placeNames[E any](list []E) []string {
	names := fingerprints(list)
	for i, fingerprint := range names {
		names[i] = strconv.Itoa(i) + ":" + fingerprint
	}
	return names
}

func fingerprints[E any](list []E) []string {
	all := make([]string, len(list))
	for i := range list {
		all[i] = Fingerprint(&list[i])
	}
	return all
}
