/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"fmt"
	"strings"
)

// position is the line and column of a value, counted from 1. Columns are in bytes.
type position struct{ line, column int }

// value is a value of a JSON or YAML document.
type value struct {
	position
	// scalar is a string, bool, int64, float64 or nil, unless the value is an object or a list.
	scalar any
	fields []field // of an object
	items  []value // of a list
	kind   kind
}

type kind string

const (
	scalar kind = "scalar"
	object kind = "object"
	list   kind = "list"
)

type field struct {
	position
	name  string
	value value
}

// fieldNames are those of the fields of an object so far.
type fieldNames map[string]position

// add returns an error if the object has a field of that name already, of which readers would keep an arbitrary one.
func (n fieldNames) add(f field) error {
	if before, ok := n[f.name]; ok {
		return &positioned{f.position, fmt.Sprintf("%s is set already at %d:%d", f.name, before.line, before.column)}
	}
	n[f.name] = f.position
	return nil
}

// mostLevels bounds the nesting of values, as encoding/json does. Without a bound, an alias of YAML within itself has no end.
const mostLevels = 10_000

func tooDeep(at position) error {
	return &positioned{at, fmt.Sprintf("values are nested more than %d levels deep", mostLevels)}
}

// plain returns the value as unstructured objects hold it.
func (v value) plain() any {
	switch v.kind {
	case object:
		fields := make(map[string]any, len(v.fields))
		for _, f := range v.fields {
			fields[f.name] = f.value.plain()
		}
		return fields
	case list:
		items := make([]any, len(v.items))
		for i, item := range v.items {
			items[i] = item.plain()
		}
		return items
	default:
		return v.scalar
	}
}

// describe names the type of the value for errors, without its content.
func (v value) describe() string {
	if v.kind != scalar {
		return "a " + string(v.kind)
	}
	switch v.scalar.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
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

// mostFaults is the maximum number of faults that are reported at once.
const mostFaults = 10

// faults collects those of a file.
type faults struct {
	found     []Fault
	operation int
}

func (f *faults) addf(at position, format string, args ...any) {
	if len(f.found) < mostFaults {
		f.found = append(f.found, Fault{at.line, at.column, f.operation, fmt.Sprintf(format, args...)})
	}
}

func (f *faults) err() error {
	if len(f.found) == 0 {
		return nil
	}
	return &Error{f.found}
}
