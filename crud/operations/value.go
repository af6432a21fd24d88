/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"cmp"
	"fmt"
	"strings"
)

// position is the line and column of a value, counted from 1. Columns are in bytes.
type position struct{ line, column int }

func (p position) compare(other position) int {
	return cmp.Or(cmp.Compare(p.line, other.line), cmp.Compare(p.column, other.column))
}

// value is a value of a JSON or YAML document. Its content is as unstructured objects hold it, except that the objects of the outer levels, of which
// the parser reports positions, are fields.
type value struct {
	position

	content any
}

type field struct {
	position

	name  string
	value value
}

type fields map[string]field

// outerLevels are an operation and its preconditions, or a header and its options.
const outerLevels = 2

// below returns the number of outer levels in a field: none in a specification, which has the most values.
func below(outer int, name string) int {
	if _, isSpec := specNames[name]; isSpec || name == specField {
		return 0
	}
	return max(outer-1, 0)
}

type builder struct {
	own   map[string]position // of the fields that it does not merge from others
	outer fields
	inner map[string]any
}

func newBuilder(outer int) *builder {
	if outer > 0 {
		return &builder{own: map[string]position{}, outer: fields{}}
	}
	return &builder{own: map[string]position{}, inner: map[string]any{}}
}

func (b *builder) content() any {
	if b.outer != nil {
		return b.outer
	}
	return b.inner
}

const (
	// mostLevels bounds the nesting of values, as encoding/json does. Without a bound, an alias of YAML within itself has no end.
	mostLevels = 10_000
	// mostValues bounds the memory of a file, of which a value needs about 40 bytes. An object or a document counts as objectValues of them,
	// and a scalar that kubectl has to resolve as resolvedValues.
	mostValues, objectValues, resolvedValues = 2_000_000, 8, 32
)

// room counts what the values of a file need.
type room struct{ values, bytes, levels int }

// take returns an error if there is no room for a value with a text.
func (r *room) take(at position, values int, text string) error {
	r.values += values
	r.bytes += len(text)
	switch {
	case r.levels > mostLevels:
		return &positioned{at, fmt.Sprintf("values are nested more than %d levels deep", mostLevels)}
	case r.values > mostValues:
		return &positioned{at, fmt.Sprintf("the file has more than %d values, of which an object counts as %d: split it", mostValues, objectValues)}
	case r.bytes > MostBytes:
		return &positioned{at, fmt.Sprintf("the texts of the file have more than %d bytes, since aliases repeat them", MostBytes)}
	}
	return nil
}

// add returns an error if the object has a field of that name already, of which readers would keep an arbitrary one.
func (r *room) add(to *builder, f field) error {
	if before, ok := to.own[f.name]; ok {
		return &positioned{f.position, fmt.Sprintf("%s is set already at %d:%d", f.name, before.line, before.column)}
	}
	to.own[f.name] = f.position
	if to.outer != nil {
		to.outer[f.name] = f
		return r.take(f.position, objectValues, f.name)
	}
	to.inner[f.name] = f.value.content
	return r.take(f.position, 2, f.name)
}

// describe names the type of the value for errors, without its content.
func (v value) describe() string {
	switch v.content.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case fields, map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return "a number"
}

// Fault is one mistake in a file.
type Fault struct {
	// Line and Column are its position, counted from 1.
	Line, Column int
	// Operation is the number of the operation, counted from 1, and 0 in the header.
	Operation int
	Message   string
}

// Error is the reason for which a file is rejected.
type Error struct{ Faults []Fault }

// String returns line:column (operation n): message.
func (f Fault) String() string {
	at := "header"
	if f.Operation > 0 {
		at = fmt.Sprint("operation ", f.Operation)
	}
	return fmt.Sprintf("%d:%d (%s): %s", f.Line, f.Column, at, f.Message)
}

// Error implements error, with one line per fault.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, fault := range e.Faults {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

const mostFaults = 10

type faults struct {
	room      *room
	found     []Fault
	operation int
}

func (f *faults) addf(at position, format string, args ...any) {
	if len(f.found) < mostFaults {
		f.found = append(f.found, Fault{at.line, at.column, f.operation, fmt.Sprintf(format, args...)})
	}
}
