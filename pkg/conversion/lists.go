/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
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
	// Strings, numbers and booleans can be marshalled.
	key, _ := Canonical(parts)
	return string(key)
}

// Readers are the Readers of the elements of a list.
type Readers struct{ all []Reader }

// At is the Reader of an element.
func (r Readers) At(index int) Reader {
	if r.all == nil {
		return Reader{}
	}
	return r.all[index]
}

// ReadList finds for each element of a list what is stashed for it, wherever the element was when that was
// stashed. The key tells elements from each other; keys that are not unique tell the first from the second.
//
// Elements without a key (nil) are known by their place and their content. In this order: the same content at the same
// place; the same content at another place, unless copies of it make that ambiguous; and, if nothing was moved and the
// list is as long as it was, whatever is at the same place, which then was edited. What is stashed for an element that is
// not found is dropped: the element was deleted.
func ReadList[E any](from Reader, list []E, key func(*E) string) Readers {
	if from.tree == nil || len(from.children()) == 0 {
		return Readers{}
	}
	all := make([]Reader, len(list))
	if key != nil {
		for i, name := range (keyed[E]{list, key}).names() {
			all[i] = from.child(name)
		}
		return Readers{all}
	}
	first := from.tree.nodes[from.at].children.from
	for i, child := range match(from.children(), fingerprints(list)) {
		if child >= 0 {
			all[i] = Reader{tree: from.tree, at: first + child}
		}
	}
	return Readers{all}
}

// Writers are the Writers of the elements of a list.
type Writers struct {
	of   Writer
	list int
}

// At is the Writer of an element. It is to be called once for each.
func (w Writers) At(index int) Writer {
	return w.of.add(draftNode{list: w.list, index: index})
}

// WriteList is ReadList's counterpart. The list is that of the API object, with its final length; its elements need not
// be complete before Annotation.Store is called.
func WriteList[E any](to Writer, list []E, key func(*E) string) Writers {
	if to.tree == nil {
		return Writers{}
	}
	var elements identifier = positional[E](list)
	if key != nil {
		elements = keyed[E]{list, key}
	}
	to.tree.lists = append(to.tree.lists, elements)
	return Writers{of: to, list: len(to.tree.lists) - 1}
}

// identifier names the elements of a list.
type identifier interface {
	names() []string
	// needsAll is whether names have to be noted of elements too for which nothing is stashed.
	needsAll() bool
}

type keyed[E any] struct {
	list []E
	key  func(*E) string
}

func (keyed[E]) needsAll() bool { return false }

// names are the keys. A second element with the same key, which an API server does not let through, is "key~2". A ~ in a
// key is written as ~0, as in a JSON pointer.
func (k keyed[E]) names() []string {
	names := make([]string, len(k.list))
	seen := make(map[string]int, len(k.list))
	for i := range k.list {
		key := strings.ReplaceAll(k.key(&k.list[i]), "~", "~0")
		seen[key]++
		if times := seen[key]; times > 1 {
			key += "~" + strconv.Itoa(times)
		}
		names[i] = key
	}
	return names
}

type positional[E any] []E

func (positional[E]) needsAll() bool { return true }

func (p positional[E]) names() []string {
	names := fingerprints(p)
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
