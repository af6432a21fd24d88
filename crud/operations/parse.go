/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mallard-dev/mallard/crud"
)

// Schema is the JSON Schema (draft 7) with which editors check and complete operation files: a document of YAML, of JSON, or a list. The parser checks
// more than that, such as whether a jq program compiles.
//
//go:embed schema.json
var Schema []byte

// Limits of a file.
const (
	// MostBytes is the largest size.
	MostBytes = 16 << 20
	// MostOperations is the largest number of operations.
	MostOperations = 10_000
)

// File is the content of an operation file.
type File struct {
	crud.Plan
	// DryRun reports that the operations are only previewed, which a file cannot request.
	DryRun bool
	// OnHookError are those of the operations that are executed although the hook that wrote the file failed.
	OnHookError []crud.Operation
}

// Parse returns the content of a file. The error is an *Error, and there are no operations then. An empty file has no operations.
func Parse(content []byte) (File, error) {
	found := &faults{room: &room{}, operation: 1}
	file := parse(content, found)
	if len(found.found) > 0 {
		return File{}, &Error{found.found}
	}
	return file, nil
}

func parse(content []byte, found *faults) (file File) {
	if len(content) > MostBytes {
		found.addf(position{1, 1}, "the file has %d bytes, more than %d", len(content), MostBytes)
		return file
	}
	isNoText := func(r rune) bool { return r == 0 || r == utf8.RuneError }
	if i := bytes.IndexFunc(content, isNoText); i >= 0 && (content[i] == 0 || !utf8.Valid(content)) {
		found.addf(position{1, 1}.after(content[:i]), "the file is not UTF-8 text: byte 0x%02x", content[i])
		return file
	}
	first := true
	for r := newReader(content, found.room, false); ; {
		document, err := r.read(outerLevels)
		if bad, ok := errors.AsType[*positioned](err); ok {
			found.addf(bad.position, "%s", bad.message)
		} else if err != nil && !errors.Is(err, io.EOF) {
			found.addf(position{1, 1}, "%s", err)
		}
		if err != nil {
			return file
		}
		isHeader := first && decodeHeader(document, &file, found)
		if first = false; isHeader {
			continue
		}
		d := &decoder{faults: found}
		d.decode(document)
		file.Operations = append(file.Operations, d.all...)
		if d.onHookError {
			file.OnHookError = append(file.OnHookError, d.all...)
		}
		if len(found.found) == mostFaults {
			return file
		}
		if len(file.Operations) > MostOperations {
			found.addf(document.position, "the file has more than %d operations", MostOperations)
			return file
		}
		found.operation++
	}
}

// position is the line and column of a value, counted from 1.
type position struct{ line, column int }

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

const (
	// mostLevels bounds the nesting of values, as encoding/json does. Without a bound, an alias of YAML within itself has no end.
	mostLevels = 10_000
	tooDeep    = "values are nested more than 10000 levels deep"
	// mostValues bounds the memory of a file. An object or a document counts as objectValues of them.
	mostValues, objectValues = 1_000_000, 8
)

// room counts what the values of a file need.
type room struct{ values, bytes, levels int }

// take returns an error if there is no room for a value with a text.
func (r *room) take(at position, values int, text string) error {
	r.values += values
	r.bytes += len(text)
	switch {
	case r.levels > mostLevels:
		return &positioned{at, tooDeep}
	case r.values > mostValues:
		return &positioned{at, fmt.Sprintf("the file has more than %d values, of which an object counts as %d: split it", mostValues, objectValues)}
	case r.bytes > MostBytes:
		return &positioned{at, fmt.Sprintf("the texts of the file have more than %d bytes, since aliases repeat them", MostBytes)}
	}
	return nil
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
