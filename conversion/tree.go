/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"slices"

	kjson "sigs.k8s.io/json"
)

// node holds the stash of one struct, list or map of the object. As JSON, the root is the annotation.
type node struct {
	// Children are by the name of a field, a key, or an element of a list (see placeNames).
	Children map[string]*node `json:"c,omitempty"`
	Entries  PropertyBag      `json:"e,omitempty"`
	// Format is that of the annotation, in the root only.
	Format int   `json:"f,omitempty"`
	Absent marks `json:"n,omitempty"`
	Zero   marks `json:"z,omitempty"`

	// elements, of a list that is being written, become Children at the end.
	elements *elements
}

// marks are names of fields.
type marks []string

// UnmarshalJSON implements json.Unmarshaler. Malformed entries are dropped and counted; it never fails.
func (m *marks) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*[]string)(m)) != nil {
		*m = nil
		countDropped(partEntry)
	}
	return nil
}

func (n *node) walk(depth int, visit func(n *node, depth int)) {
	if n == nil { // in JSON null
		return
	}
	visit(n, depth)
	for _, child := range n.Children {
		child.walk(depth+1, visit)
	}
}

// isWithinLimits reports whether a root has not too many entries, and nothing is nested too deep.
func (n *node) isWithinLimits() bool {
	entries, isDeep := 0, false
	n.walk(0, func(n *node, depth int) {
		entries += len(n.Entries)
		isDeep = isDeep || depth > MaxNesting
		for _, entry := range n.Entries {
			isDeep = isDeep || isTooDeep(entry.form.Data)
		}
	})
	return entries <= MaxEntries && !isDeep
}

// parse reads an annotation. Malformed parts of it are dropped and counted. It returns nil if the whole of it is, or
// exceeds a limit.
func parse(annotation string) *node {
	switch found := formatOf(annotation); {
	case found < format:
		return nil
	case found > format:
		return carried(annotation)
	}
	var root node
	// Parts that are unknown or have the wrong type are skipped.
	malformed, err := kjson.UnmarshalStrict([]byte(annotation), &root, kjson.DisallowUnknownFields)
	if err != nil {
		malformed = append(malformed, err)
	}
	for range malformed {
		countDropped(partEntry)
	}
	root.walk(0, func(n *node, depth int) {
		if n.Format != 0 && depth > 0 {
			countDropped(partEntry)
		}
	})
	if !root.isWithinLimits() {
		return nil
	}
	return &root
}

// formatOf returns the format that an annotation names, or 0.
func formatOf(annotation string) int {
	var root struct {
		Format int `json:"f"`
	}
	if len(annotation) > HardLimit || kjson.UnmarshalCaseSensitivePreserveInts([]byte(annotation), &root) != nil {
		return 0
	}
	return root.Format
}

// carried holds an annotation in a later format until it is written again.
func carried(annotation string) *node {
	var root node
	// Strings can be marshaled.
	_ = root.Entries.Put(foreignKey, annotation)
	return &root
}

// settle removes what is empty, and returns whether there is anything else.
func (n *node) settle() (isFilled bool) {
	for name, child := range n.Children {
		if !child.settle() {
			delete(n.Children, name)
		}
	}
	if n.elements != nil {
		n.Children = n.elements.settle()
	}
	slices.Sort(n.Absent)
	slices.Sort(n.Zero)
	return len(n.Children)+len(n.Entries)+len(n.Absent)+len(n.Zero) > 0
}

// encode returns a root that is not empty as an annotation, and whether that is within the limits of this package.
func (n *node) encode() (text string, fits bool) {
	if foreign, ok := n.foreign(); ok {
		return foreign, true
	}
	n.Format = format
	data, err := marshal(n)
	return string(data), err == nil && len(data) <= HardLimit && n.isWithinLimits()
}

// foreign returns an annotation in a later format that was carried here, if there is nothing else to write.
func (n *node) foreign() (annotation string, ok bool) {
	entry, ok := n.Entries[foreignKey]
	isAlone := len(n.Entries) == 1 && len(n.Children)+len(n.Absent)+len(n.Zero) == 0
	if !ok || !isAlone || !entry.decode(&annotation) {
		return "", false
	}
	return annotation, formatOf(annotation) > format
}
