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
	// length is how many elements a list without keys had.
	length int
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
	memberChildren  = "c"
	memberEntries   = "e"
	memberFormat    = "f"
	memberLength    = "l"
	memberAbsent    = "n"
	memberTruncated = "t"
	memberZero      = "z"
)

// What may be wrong with a whole annotation.
var (
	errTooLong     = fmt.Errorf("it is longer than %d bytes", HardLimit)
	errTooMany     = fmt.Errorf("it has more than %d entries", MaxEntries)
	errNotJSON     = errors.New("it is no JSON object")
	errNoFormat    = errors.New("it names no format")
	errLaterFormat = errors.New("it has a later format")
)

// head is what the root says of the whole annotation.
type head struct {
	// truncated is how many bytes the annotation would have needed, if these were too many.
	truncated int
}

// parse reads an annotation. What is malformed within it is dropped and counted; the error is about the whole of it.
func parse(annotation string) (*tree, head, error) {
	if len(annotation) > HardLimit {
		return nil, head{}, errTooLong
	}
	text := strings.TrimSpace(annotation)
	if !json.Valid([]byte(annotation)) || text[0] != '{' {
		return nil, head{}, errNotJSON
	}
	top, err := parseHead(text)
	if err != nil {
		return nil, head{}, err
	}
	parser := parser{tree: &tree{nodes: []node{{}}}, texts: []string{text}}
	// Reading a node adds its children.
	for at := 0; at < len(parser.nodes); at++ {
		parser.read(at)
		if len(parser.entries) > MaxEntries {
			return nil, head{}, errTooMany
		}
	}
	return parser.tree, top, nil
}

func parseHead(text string) (head, error) {
	var top head
	found := 0
	for name, value := range members(text) {
		switch unquoted(name) {
		case memberFormat:
			if json.Unmarshal([]byte(value), &found) != nil || found < format {
				return head{}, errNoFormat
			}
		case memberTruncated:
			if json.Unmarshal([]byte(value), &top.truncated) != nil || top.truncated <= 0 {
				top.truncated = HardLimit + 1
			}
		}
	}
	switch {
	case found == 0:
		return head{}, errNoFormat
	case found > format:
		return head{}, errLaterFormat
	default:
		return top, nil
	}
}

type parser struct {
	*tree

	// texts are the nodes as JSON.
	texts []string
}

func (p *parser) read(at int) {
	if p.texts[at][0] != '{' || p.nodes[at].depth > MaxNesting {
		countDropped(whatEntry)
		return
	}
	for name, value := range members(p.texts[at]) {
		n, ok := &p.nodes[at], true
		switch unquoted(name) {
		case memberChildren:
			if ok = value[0] == '{'; ok {
				children := p.addChildren(value, n.depth+1)
				p.nodes[at].children = children // n is not where it was
			}
		case memberEntries:
			if ok = value[0] == '{'; ok {
				n.entries = p.addEntries(value)
			}
		case memberZero:
			n.zero, ok = marks(value)
		case memberAbsent:
			n.absent, ok = marks(value)
		case memberLength:
			ok = json.Unmarshal([]byte(value), &n.length) == nil
		case memberFormat, memberTruncated:
			ok = at == 0
		default:
			ok = false
		}
		if !ok {
			countDropped(whatEntry)
		}
	}
}

func (p *parser) addChildren(object string, depth int) span {
	type child struct{ name, text string }
	var all []child
	for name, value := range members(object) {
		all = append(all, child{name: unquoted(name), text: value})
	}
	slices.SortStableFunc(all, func(a, b child) int { return strings.Compare(a.name, b.name) })
	from := len(p.nodes)
	for _, c := range all {
		p.nodes = append(p.nodes, node{name: c.name, depth: depth})
		p.texts = append(p.texts, c.text)
	}
	return span{from: from, to: len(p.nodes)}
}

func (p *parser) addEntries(object string) span {
	from := len(p.entries)
	for name, value := range members(object) {
		entry, ok := parseEntry(value)
		if !ok {
			countDropped(whatEntry)
			continue
		}
		p.entries = append(p.entries, property{key: unquoted(name), entry: entry})
	}
	return span{from: from, to: len(p.entries)}
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
