/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// The functions of this file look at JSON as text, so that data is passed on without being decoded. They rely on
// json.Valid having accepted the text, and on there being no whitespace around it.

// members are the members of an object, their names as they are written: quoted.
func members(object string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for at := pastSpace(object, 1); object[at] != '}'; {
			end := pastValue(object, at)
			name := object[at:end]
			at = pastSpace(object, pastSpace(object, end)+len(":"))
			end = pastValue(object, at)
			if !yield(name, object[at:end]) {
				return
			}
			at = pastComma(object, end)
		}
	}
}

// elements are the elements of an array.
func elements(array string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := pastSpace(array, 1); array[at] != ']'; {
			end := pastValue(array, at)
			if !yield(array[at:end]) {
				return
			}
			at = pastComma(array, end)
		}
	}
}

func pastSpace(text string, at int) int {
	for text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r' {
		at++
	}
	return at
}

func pastComma(text string, at int) int {
	at = pastSpace(text, at)
	if text[at] == ',' {
		at = pastSpace(text, at+1)
	}
	return at
}

// pastValue is where the value ends that begins at a place.
func pastValue(text string, at int) int {
	switch text[at] {
	case '"':
		return pastString(text, at)
	case '{', '[':
		return pastNested(text, at)
	}
	for at < len(text) {
		switch text[at] {
		case ',', ':', '}', ']', ' ', '\t', '\n', '\r':
			return at
		}
		at++
	}
	return at
}

func pastString(text string, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func pastNested(text string, at int) int {
	for depth := 0; ; {
		switch text[at] {
		case '"':
			at = pastString(text, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		at++
		if depth == 0 {
			return at
		}
	}
}

// nesting is how deep objects and arrays are nested: 0 for a scalar, 1 for a flat array.
func nesting(text string) int {
	depth, deepest := 0, 0
	for at := 0; at < len(text); {
		switch text[at] {
		case '"':
			at = pastString(text, at)
			continue
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
		at++
	}
	return deepest
}

// unquoted is what a JSON string says.
func unquoted(quoted string) string {
	if inner := quoted[1 : len(quoted)-1]; isPlain(inner) {
		return inner
	}
	var s string
	if err := json.Unmarshal([]byte(quoted), &s); err != nil {
		return "" // valid JSON that begins with a quote is a string
	}
	return s
}

// appendQuoted appends a string as JSON. Each string has one form, whoever wrote it.
func appendQuoted(to []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(to, '"'), s...), '"')
	}
	return append(to, encodedString(s)...)
}

func encodedString(s string) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		return []byte(`""`) // every string can be encoded
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}

// isPlain is whether a string looks the same as JSON, between quotes.
func isPlain(s string) bool {
	for _, r := range s {
		if r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
			return false
		}
	}
	return true
}
