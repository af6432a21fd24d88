/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// encode returns the annotation, or "" if nothing is stashed, and whether it is within the limits of this package.
func (d *draft) encode() (text string, fits bool) {
	filled := d.filled()
	if !filled[0] {
		return "", true
	}
	if foreign, ok := d.foreign(filled); ok {
		return foreign, true
	}
	e := encoder{draft: d, children: d.family(filled)}
	text = string(e.appendNode([]byte(nil), 0))
	return text, !e.beyond && e.entries <= MaxEntries && len(text) <= HardLimit
}

// filled says of each node whether there is anything in or below it.
func (d *draft) filled() []bool {
	filled := make([]bool, len(d.nodes))
	for i := len(d.nodes) - 1; i >= 0; i-- {
		n := &d.nodes[i]
		filled[i] = filled[i] || len(n.bag) > 0 || len(n.zero) > 0 || len(n.absent) > 0
		if i > 0 && filled[i] {
			filled[n.parent] = true
		}
	}
	return filled
}

// foreign is an annotation in a later format that was carried here, if there is nothing else to write.
func (d *draft) foreign(filled []bool) (annotation string, ok bool) {
	root := &d.nodes[0]
	entry, ok := root.bag[foreignKey]
	alone := len(root.bag) == 1 && len(root.zero) == 0 && len(root.absent) == 0 && !slices.Contains(filled[1:], true)
	if !ok || !alone {
		return "", false
	}
	if json.Unmarshal([]byte(entry.data), &annotation) != nil {
		return "", false
	}
	_, err := parseRoot(annotation)
	return annotation, errors.Is(err, errLaterFormat)
}

// family is the nodes that are not empty, those of one parent next to each other and in the order of their names.
func (d *draft) family(filled []bool) []int {
	d.nameElements(filled)
	var all []int
	for i := 1; i < len(d.nodes); i++ {
		if filled[i] {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(d.nodes[a].parent, d.nodes[b].parent), strings.Compare(d.nodes[a].name, d.nodes[b].name))
	})
	return all
}

// nameElements gives nodes of list elements their names. Where a name tells the place, it takes all of them to tell
// later what has become of one, so that none is left out if there is something in any.
func (d *draft) nameElements(filled []bool) {
	names := make([][]string, len(d.lists))
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.list == noList || !filled[n.parent] {
			continue
		}
		list := d.lists[n.list]
		if names[n.list] == nil {
			names[n.list] = list.names()
		}
		n.name = names[n.list][n.index]
		filled[i] = filled[i] || list.needsAll()
	}
}

type encoder struct {
	*draft

	children []int
	entries  int
	// beyond is whether something is nested too deep to be read again.
	beyond bool
}

func (e *encoder) appendNode(to []byte, at int) []byte {
	n := &e.nodes[at]
	e.check(n)
	to = append(to, '{')
	first, _ := slices.BinarySearchFunc(e.children, at, func(child, parent int) int {
		return cmp.Compare(e.nodes[child].parent, parent)
	})
	if rest := e.children[first:]; len(rest) > 0 && e.nodes[rest[0]].parent == at {
		to = append(to, `"c":{`...)
		for _, child := range rest {
			if e.nodes[child].parent != at {
				break
			}
			to = append(appendQuoted(to, e.nodes[child].name), ':')
			to = append(e.appendNode(to, child), ',')
		}
		to = append(closed(to, '}'), ',')
	}
	if len(n.bag) > 0 {
		to = append(appendBag(append(to, `"e":`...), n.bag), ',')
	}
	if at == 0 {
		to = append(strconv.AppendInt(append(to, `"f":`...), format, 10), ',')
	}
	to = appendMarks(to, `"n":[`, n.absent)
	to = appendMarks(to, `"z":[`, n.zero)
	return closed(to, '}')
}

func (e *encoder) check(n *draftNode) {
	e.entries += len(n.bag)
	e.beyond = e.beyond || n.depth > MaxNesting
	for _, entry := range n.bag {
		e.beyond = e.beyond || nesting(entry.data) > MaxNesting
	}
}

func appendMarks(to []byte, member string, names []string) []byte {
	if len(names) == 0 {
		return to
	}
	to = append(to, member...)
	slices.Sort(names)
	for _, name := range names {
		to = append(appendQuoted(to, name), ',')
	}
	return append(closed(to, ']'), ',')
}
