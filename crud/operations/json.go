/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sort"
	"strconv"
	"strings"
)

// jsonReader reads JSON with the positions of values, which encoding/json does not keep.
type jsonReader struct {
	content []byte
	decoder *json.Decoder
	lines   []int // offsets at which lines begin
	// lineBreaks reports whether lineBreak stands for line breaks.
	lineBreaks bool
	depth      int
}

// lineBreak stands for a line break in a string while the decoder reads it. JSON does not allow it there, but shells write it.
const lineBreak = '\x7f'

func newJSONReader(content []byte) *jsonReader {
	replaced, found := replaceLineBreaks(content)
	r := &jsonReader{content: content, decoder: json.NewDecoder(bytes.NewReader(replaced)), lines: []int{0}, lineBreaks: found}
	r.decoder.UseNumber()
	for i, c := range content {
		if c == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	return r
}

// replaceLineBreaks replaces those in strings by lineBreak, and reports whether there are any. A content that has that byte stays as it is.
func replaceLineBreaks(content []byte) (replaced []byte, found bool) {
	if bytes.IndexByte(content, lineBreak) >= 0 || bytes.Contains(bytes.ToLower(content), []byte(`\u007f`)) {
		return content, false
	}
	replaced = bytes.Clone(content)
	inString, escaped := false, false
	for i, c := range content {
		switch {
		case escaped:
			escaped = false
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			escaped = true
		case inString && c == '\n':
			replaced[i], found = lineBreak, true
		}
	}
	return replaced, found
}

func (r *jsonReader) at(offset int) position {
	line := sort.SearchInts(r.lines, offset+1)
	return position{line, offset - r.lines[line-1] + 1}
}

// positioned is a mistake in the syntax.
type positioned struct {
	position
	message string
}

func (p *positioned) Error() string { return p.message }

// next returns the next token and where it begins, and io.EOF after the last one.
func (r *jsonReader) next() (json.Token, position, error) {
	start := int(r.decoder.InputOffset())
	for start < len(r.content) && strings.IndexByte(" \t\r\n,:", r.content[start]) >= 0 {
		start++
	}
	token, err := r.decoder.Token()
	at := r.at(start)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, at, &positioned{at, syntax.Error() + ": a file that begins with { or [ is JSON"}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, at, &positioned{at, "the document ends in the middle of a value"}
	}
	if text, ok := token.(string); ok && r.lineBreaks {
		token = strings.ReplaceAll(text, string(lineBreak), "\n")
	}
	return token, at, err //nolint:wrapcheck // io.EOF
}

// read returns the next value, and io.EOF after the last one.
func (r *jsonReader) read() (value, error) {
	token, at, err := r.next()
	if err != nil {
		return value{}, err
	}
	return r.after(token, at)
}

func (r *jsonReader) after(token json.Token, at position) (value, error) {
	switch token := token.(type) {
	case json.Delim:
		if r.depth++; r.depth > mostLevels {
			return value{}, tooDeep(at)
		}
		defer func() { r.depth-- }()
		if token == '{' {
			return r.object(at)
		}
		return r.list(at)
	case json.Number:
		number, err := numberOf(token.String())
		if err != nil {
			return value{}, &positioned{at, err.Error()}
		}
		return value{position: at, kind: scalar, scalar: number}, nil
	}
	return value{position: at, kind: scalar, scalar: token}, nil
}

func (r *jsonReader) object(at position) (value, error) {
	result, set := value{position: at, kind: object}, fieldNames{}
	for {
		token, at, err := r.next()
		switch {
		case err != nil:
			return value{}, unexpectedEnd(err, at)
		case token == json.Delim('}'):
			return result, nil
		}
		inner, err := r.read()
		if err != nil {
			return value{}, unexpectedEnd(err, at)
		}
		name, _ := token.(string) // the decoder returns nothing else as a key
		f := field{at, name, inner}
		if err := set.add(f); err != nil {
			return value{}, err
		}
		result.fields = append(result.fields, f)
	}
}

func (r *jsonReader) list(at position) (value, error) {
	result := value{position: at, kind: list}
	for {
		token, at, err := r.next()
		switch {
		case err != nil:
			return value{}, unexpectedEnd(err, at)
		case token == json.Delim(']'):
			return result, nil
		}
		item, err := r.after(token, at)
		if err != nil {
			return value{}, err
		}
		result.items = append(result.items, item)
	}
}

func unexpectedEnd(err error, at position) error {
	if errors.Is(err, io.EOF) {
		return &positioned{at, "the document ends in the middle of a value"}
	}
	return err
}

// numberOf returns an int64 for an integer, whose digits stay exact, and otherwise a float64.
func numberOf(text string) (any, error) {
	if integer, err := strconv.ParseInt(text, 10, 64); err == nil {
		return integer, nil
	}
	if !strings.ContainsAny(text, ".eE") {
		return nil, errors.New("the integer has more than 64 bits")
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errors.New("the number is too large")
	}
	return number, nil
}
