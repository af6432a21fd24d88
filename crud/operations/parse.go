/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"bytes"
	_ "embed"
	"errors"
	"io"
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
	// DryRun reports whether the file requests a dry run, as crud.Client.Preview makes it.
	DryRun bool
	// OnHookError are those of the operations that are executed although the hook that wrote the file failed.
	OnHookError []crud.Operation

	positions []position // of the operations
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
	if i := firstInvalid(content); i >= 0 {
		found.addf(newJSONReader(content, found.room).at(i), "the file is not UTF-8 text: byte 0x%02x", content[i])
		return file
	}
	first := true
	for read := reader(content, found.room); ; {
		document, err := read(outerLevels)
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
		decodeOperation(document, &file, found)
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

// firstInvalid returns the offset of the first byte that no text contains, or -1.
func firstInvalid(content []byte) int {
	for i := 0; i < len(content); {
		r, size := utf8.DecodeRune(content[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// reader returns a function that returns the next document in the format of the content, and io.EOF after the last one.
func reader(content []byte, of *room) func(outer int) (value, error) {
	trimmed := bytes.TrimLeft(content, " \t\r\n")
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		return newJSONReader(content, of).read
	}
	return newYAMLReader(content, of).read
}
