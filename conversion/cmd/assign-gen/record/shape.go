/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package record

import (
	"fmt"
	"slices"
	"strings"
)

// shape is the JSON of a value as a lock describes it: a name, {member:shape,…}, {*:shape} of a map, [shape] of a list, or [n:shape].
type shape struct {
	// name is that of a builtin type or of a type of another module; it is empty for the rest.
	name string
	// members are in their order; those of maps, lists and arrays are one, named "*", "[]" and "[n]".
	members []member
}

type member struct {
	name string
	is   shape
}

// parseValue reads the description of a value: its shape, and after a space the way in which it is kept.
func parseValue(text string) (is shape, kept string) {
	text, kept, _ = strings.Cut(text, " ")
	is, _ = parseShape(text)
	return is, kept
}

// parseShape reads a shape from the beginning of a text, and returns the rest of the text.
func parseShape(text string) (s shape, rest string) {
	switch {
	case strings.HasPrefix(text, "["):
		return parseList(text[1:])
	case strings.HasPrefix(text, "{"):
		return parseObject(text[1:])
	}
	end := strings.IndexAny(text, ",]}")
	if end < 0 {
		end = len(text)
	}
	return shape{name: text[:end]}, text[end:]
}

func parseList(text string) (s shape, rest string) {
	name := "[]"
	if length, after, ok := strings.Cut(text, ":"); ok && length != "" && strings.Trim(length, "0123456789") == "" {
		name, text = "["+length+"]", after
	}
	element, rest := parseShape(text)
	return shape{members: []member{{name, element}}}, strings.TrimPrefix(rest, "]")
}

func parseObject(text string) (s shape, rest string) {
	for text != "" && text[0] != '}' {
		name, value, _ := strings.Cut(strings.TrimPrefix(text, ","), ":")
		is, after := parseShape(value)
		s.members, text = append(s.members, member{name, is}), after
	}
	return s, strings.TrimPrefix(text, "}")
}

// in words, for messages.
func (s shape) String() string {
	switch {
	case s.name != "":
		return s.name
	case len(s.members) == 1 && strings.HasPrefix(s.members[0].name, "["):
		return "a list"
	case len(s.members) == 1 && s.members[0].name == "*":
		return "a map"
	default:
		return "a struct"
	}
}

// comparison finds where a released shape is not read any more.
type comparison struct {
	// before and now are the shapes of types of other modules, by their names.
	before, now map[string]string
	// inside are the pairs of types of other modules that are being compared.
	inside []string
	// found are the differences, as texts.
	found []string
}

// shapes compares two shapes. A member that is new does no harm: what was stashed before it lacks it, as a client's object may.
func (c *comparison) shapes(path string, before, now shape) {
	if pair := before.name + " " + now.name; before.name != "" && now.name != "" {
		if slices.Contains(c.inside, pair) {
			return
		}
		c.inside = append(c.inside, pair)
		defer func() { c.inside = c.inside[:len(c.inside)-1] }()
	}
	wasNamed, isNamed := before.name, now.name
	before, knowsBefore := expanded(before, c.before)
	now, knowsNow := expanded(now, c.now)
	switch {
	case (!knowsBefore || !knowsNow) && lastName(wasNamed) == lastName(isNamed) && wasNamed != "":
		return // all that is known of one of them is its name
	case before.name != "" && now.name == before.name:
		return
	case before.name != "" || now.name != "" || before.String() != now.String():
		c.differs(path, before, " would be read as "+now.String())
		return
	}
	for _, each := range before.members {
		at := slices.IndexFunc(now.members, func(m member) bool { return m.name == each.name })
		inner := path + each.name
		if !strings.HasPrefix(each.name, "[") && path != "" {
			inner = path + "." + each.name
		}
		if at < 0 {
			c.differs(inner, each.is, " would no longer be read")
			continue
		}
		c.shapes(inner, each.is, now.members[at].is)
	}
}

func (c *comparison) differs(path string, before shape, becomes string) {
	if path != "" {
		path = " at " + path
	}
	c.found = append(c.found, fmt.Sprintf("released objects carry %s%s, which%s", before, path, becomes))
}

// expanded returns the shape of a name of a type of another module, and whether all of the type is known: builtin types are.
func expanded(s shape, known map[string]string) (shape, bool) {
	if text, ok := known[s.name]; ok && s.name != "" {
		whole, _ := parseValue(text)
		return whole, true
	}
	return s, !strings.Contains(s.name, ".")
}

func lastName(name string) string { return name[strings.LastIndex(name, ".")+1:] }
