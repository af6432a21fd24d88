/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// jsonReader reads JSON with the positions of values, which encoding/json does not keep.
type jsonReader struct {
	*room

	content []byte
	decoder *json.Decoder
	// last is the position of the byte at offset.
	last   position
	offset int
	// inList reports whether the documents are those of a list.
	inList bool
	// lineBreaks reports whether lineBreak stands for line breaks.
	lineBreaks bool
}

// lineBreak stands for a line break in a string while the decoder reads it. JSON does not allow it there, but shells write it.
const lineBreak = '\x7f'

func newJSONReader(content []byte, of *room) *jsonReader {
	replaced, found := replaceLineBreaks(content)
	r := &jsonReader{room: of, content: content, decoder: json.NewDecoder(bytes.NewReader(replaced)), last: position{1, 1}, lineBreaks: found}
	r.decoder.UseNumber()
	return r
}

var jsonText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)

// replaceLineBreaks replaces those in strings by lineBreak, and reports whether it does. A content that has that byte stays as it is.
func replaceLineBreaks(content []byte) (replaced []byte, found bool) {
	if bytes.IndexByte(content, lineBreak) >= 0 || bytes.Contains(content, []byte(`\u007f`)) || bytes.Contains(content, []byte(`\u007F`)) {
		return content, false
	}
	return jsonText.ReplaceAllFunc(content, func(text []byte) []byte {
		return bytes.ReplaceAll(text, []byte("\n"), []byte{lineBreak})
	}), true
}

// at returns the position of an offset, which is not before that of the last call.
func (r *jsonReader) at(offset int) position {
	passed := r.content[r.offset:offset]
	r.last.line += bytes.Count(passed, []byte("\n"))
	if i := bytes.LastIndexByte(passed, '\n'); i >= 0 {
		r.last.column, passed = 1, passed[i+1:]
	}
	r.last.column += len(passed)
	r.offset = offset
	return r.last
}

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

// read returns the next value, and io.EOF after the last one. With outer levels, it returns the values of a list.
func (r *jsonReader) read(outer int) (value, error) {
	for {
		token, at, err := r.next()
		switch {
		case r.inList && err != nil:
			return value{}, unexpectedEnd(err, at)
		case err != nil:
			return value{}, err
		case outer == outerLevels && r.inList == (token == json.Delim(']')) && (r.inList || token == json.Delim('[')):
			r.inList = !r.inList
		default:
			return r.after(token, at, outer)
		}
	}
}

func (r *jsonReader) after(token json.Token, at position, outer int) (_ value, err error) {
	r.levels++
	defer func() { r.levels-- }()
	weight, text := 1, ""
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			weight = objectValues
		}
	case string:
		text = token
	}
	if err := r.take(at, weight, text); err != nil {
		return value{}, err
	}
	content := token
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			content, err = r.object(outer)
		} else {
			content, err = r.list()
		}
	case json.Number:
		if content, err = numberOf(token.String()); err != nil {
			err = &positioned{at, err.Error()}
		}
	}
	return value{at, content}, err
}

func (r *jsonReader) object(outer int) (any, error) {
	set, located, plain := map[string]position{}, fields{}, map[string]any{}
	for {
		token, at, err := r.next()
		if err == nil && token == json.Delim('}') {
			if outer > 0 {
				return located, nil
			}
			return plain, nil
		}
		name, _ := token.(string) // the decoder returns nothing else as a key
		if before, ok := set[name]; ok && err == nil {
			err = &positioned{at, fmt.Sprintf("%s is set already at %d:%d", name, before.line, before.column)}
		}
		var inner value
		if err == nil {
			inner, err = r.read(below(outer, name))
		}
		if err == nil {
			err = r.take(at, fieldValues, name)
		}
		if err != nil {
			return nil, unexpectedEnd(err, at)
		}
		if set[name] = at; outer > 0 {
			located[name] = field{at, name, inner}
		} else {
			plain[name] = inner.content
		}
	}
}

func (r *jsonReader) list() (any, error) {
	items := []any{}
	for {
		token, at, err := r.next()
		if err != nil || token == json.Delim(']') {
			return items, unexpectedEnd(err, at)
		}
		item, err := r.after(token, at, 0)
		if err != nil {
			return nil, err
		}
		items = append(items, item.content)
	}
}

// unexpectedEnd describes the end of the file in an object or a list.
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
