/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// tree is an annotation that was read. All nodes are in one slice, a parent before its children and these next to each
// other, so that reading costs few allocations.
type tree struct {
	nodes   []node
	entries []property
	retired []string
}

// node is what is stashed for one struct, list or map of the object.
type node struct {
	// name is that of a field, a key, or of an element of a list (see identity).
	name  string
	depth int
	// children are sorted by name.
	children, entries span
	// zero and absent are JSON arrays of names of fields, or empty.
	zero, absent string
	// text is the node as JSON, until it is read.
	text string
}

// property is an entry of a bag.
type property struct {
	key   string
	entry Entry
}

// span is a part of a slice.
type span struct{ from, to int }

// Members of a node as JSON. In an annotation they are sorted.
const (
	memberChildren = "c"
	memberEntries  = "e"
	memberFormat   = "f"
	memberAbsent   = "n"
	memberZero     = "z"
)

// What may be wrong with a whole annotation.
var (
	errTooLong     = fmt.Errorf("it is longer than %d bytes", HardLimit)
	errTooMany     = fmt.Errorf("it has more than %d entries", MaxEntries)
	errNotJSON     = errors.New("it is no JSON object")
	errNoFormat    = errors.New("it names no format")
	errLaterFormat = errors.New("it has a later format")
)

// parse reads an annotation. What is malformed within it is dropped and counted; the error is about the whole of it.
func parse(annotation string) (*tree, error) {
	root, err := parseRoot(annotation)
	if err != nil {
		return nil, err
	}
	const usual = 16
	t := &tree{nodes: make([]node, 1, usual)}
	t.nodes[0].text = root
	// Reading a node adds its children.
	for at := 0; at < len(t.nodes); at++ { //nolint:intrange // their number grows
		t.read(at)
		if len(t.entries) > MaxEntries {
			return nil, errTooMany
		}
	}
	return t, nil
}

// parseRoot returns the root of an annotation as valid JSON. It counts nothing.
func parseRoot(annotation string) (root string, err error) {
	if len(annotation) > HardLimit {
		return "", errTooLong
	}
	root = strings.TrimSpace(annotation)
	if !json.Valid([]byte(annotation)) || root[0] != '{' {
		return "", errNotJSON
	}
	found := 0
	for name, value := range members(root) {
		if unquoted(name) == memberFormat && (json.Unmarshal([]byte(value), &found) != nil || found < format) {
			return "", errNoFormat
		}
	}
	switch {
	case found == 0:
		return "", errNoFormat
	case found > format:
		return "", errLaterFormat
	default:
		return root, nil
	}
}

func (t *tree) read(at int) {
	text := t.nodes[at].text
	t.nodes[at].text = ""
	if text[0] != '{' || t.nodes[at].depth > MaxNesting {
		countDropped(whatEntry)
		return
	}
	for name, value := range members(text) {
		n := &t.nodes[at]
		var ok bool
		switch unquoted(name) {
		case memberChildren:
			if ok = value[0] == '{'; ok {
				children := t.addChildren(value, n.depth+1)
				t.nodes[at].children = children // n is not where it was
			}
		case memberEntries:
			if ok = value[0] == '{'; ok {
				n.entries = t.addEntries(value)
			}
		case memberZero:
			n.zero, ok = marks(value)
		case memberAbsent:
			n.absent, ok = marks(value)
		case memberFormat:
			ok = at == 0
		default:
			ok = false
		}
		if !ok {
			countDropped(whatEntry)
		}
	}
}

func (t *tree) addChildren(object string, depth int) span {
	from := len(t.nodes)
	for name, text := range members(object) {
		t.nodes = append(t.nodes, node{name: unquoted(name), depth: depth, text: text})
	}
	slices.SortStableFunc(t.nodes[from:], func(a, b node) int { return strings.Compare(a.name, b.name) })
	return span{from: from, to: len(t.nodes)}
}

func (t *tree) addEntries(object string) span {
	from := len(t.entries)
	for name, value := range members(object) {
		entry, ok := parseEntry(value)
		if !ok {
			countDropped(whatEntry)
			continue
		}
		t.entries = append(t.entries, property{key: unquoted(name), entry: entry})
	}
	return span{from: from, to: len(t.entries)}
}

// marks checks that a text is an array of strings.
func marks(array string) (string, bool) {
	if array[0] != '[' {
		return "", false
	}
	for name := range elements(array) {
		if name[0] != '"' {
			return "", false
		}
	}
	return array, true
}
