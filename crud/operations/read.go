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
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kubernetesyaml "sigs.k8s.io/yaml"
)

// reader reads documents. The values of YAML are those of the conversion to JSON that kubectl uses, so that they mean the same. The nodes of its
// library have the positions.
type reader struct {
	*room

	rest   []byte
	begin  position // of rest
	json   *json.Decoder
	values []value // of the present document
}

// lineBreak stands for a line break in a string of JSON, which does not allow it there, but shells write it.
const lineBreak = '\x7f'

var jsonText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// newReader returns a reader of YAML, or of JSON if the content begins as JSON does.
func newReader(content []byte, of *room, isYAML bool) *reader {
	r := &reader{room: of, rest: content, begin: position{1, 1}}
	first := bytes.TrimLeft(content, " \t\r\n")
	if !isYAML && len(first) > 0 && (first[0] == '{' || first[0] == '[') {
		r.json = json.NewDecoder(bytes.NewReader(content))
	}
	return r
}

// pass moves to an offset of the rest.
func (r *reader) pass(offset int) {
	r.begin, r.rest = r.begin.after(r.rest[:offset]), r.rest[offset:]
}

// after returns the position behind a text that begins at the position.
func (p position) after(text []byte) position {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		p.line, p.column, text = p.line+bytes.Count(text, []byte("\n")), 1, text[i+1:]
	}
	p.column += utf8.RuneCount(text)
	return p
}

type positioned struct {
	position
	message string
}

func (p *positioned) Error() string { return p.message }

// read returns the next document, and io.EOF after the last one. Without a value, it is left out.
func (r *reader) read(outer int) (value, error) {
	for len(r.values) == 0 {
		next := r.nextYAML
		if r.json != nil {
			next = r.nextJSON
		}
		text, encoded, err := next()
		if err == nil {
			err = r.parse(text, encoded, outer)
		}
		if err != nil {
			return value{}, err
		}
		r.pass(len(text))
	}
	first := r.values[0]
	r.values = r.values[1:]
	return first, nil
}

var documentEnd = regexp.MustCompile(`\n---(?:\s|$)`)

func (r *reader) nextYAML() (text, _ []byte, _ error) {
	if len(r.rest) == 0 {
		return nil, nil, io.EOF
	}
	text = r.rest
	if end := documentEnd.FindIndex(text); end != nil {
		text = text[:end[0]+1]
	}
	return text, nil, nil
}

// nextJSON returns the text of a document, and the same with other characters for line breaks in strings.
func (r *reader) nextJSON() (text, valid []byte, err error) {
	var raw json.RawMessage
	err = r.json.Decode(&raw)
	if err != nil && strings.Contains(err.Error(), `'\n' in string literal`) && bytes.IndexByte(r.rest, lineBreak) < 0 {
		r.json = json.NewDecoder(bytes.NewReader(jsonText.ReplaceAllFunc(r.rest, func(text []byte) []byte {
			return bytes.ReplaceAll(text, []byte("\n"), []byte{lineBreak})
		})))
		err = r.json.Decode(&raw)
	}
	if errors.Is(err, io.EOF) {
		return nil, nil, io.EOF
	}
	r.pass(len(r.rest) - len(bytes.TrimLeft(r.rest, " \t\r\n")))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, nil, &positioned{r.begin, "the document ends in the middle of a value"}
	case err != nil && strings.Contains(err.Error(), "exceeded max depth"):
		return nil, nil, &positioned{r.begin, tooDeep}
	case err != nil:
		return nil, nil, &positioned{r.begin, err.Error() + ": a file that begins with { or [ is JSON"}
	}
	return r.rest[:len(raw)], raw, nil
}

// parse reads a document. With outer levels, its values are those of a list.
func (r *reader) parse(text, encoded []byte, outer int) error {
	if at := dense(text); at >= 0 {
		r.pass(at)
		return &positioned{r.begin, fmt.Sprintf("the document has more than %d commas, brackets, colons and dashes: split it", mostMarks)}
	}
	if err := r.take(r.begin, objectValues, ""); err != nil {
		return err
	}
	var node, other yaml.Node
	if encoded != nil {
		node.Content = []*yaml.Node{jsonNodes(text, encoded)}
	} else {
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		switch err := decoder.Decode(&node); {
		case errors.Is(err, io.EOF), err == nil && node.Content[0].Tag == "!!null":
			return nil
		case err != nil:
			return r.fault(err)
		case !errors.Is(decoder.Decode(&other), io.EOF):
			return &positioned{r.begin, "the document continues after its end: begin another document by ---"}
		}
	}
	root := node.Content[0]
	err := r.check(root)
	switch {
	case err != nil:
	case encoded == nil:
		if encoded, err = kubernetesyaml.YAMLToJSON(text); err != nil {
			err = r.fault(err)
		}
	case !bytes.Equal(text, encoded):
		encoded = bytes.ReplaceAll(encoded, []byte{lineBreak}, []byte(`\n`))
	}
	var content any
	if err == nil {
		err = utiljson.Unmarshal(encoded, &content)
	}
	if err != nil {
		return err //nolint:wrapcheck // the conversion has accepted the document
	}
	items, isList := content.([]any)
	if !isList || outer < outerLevels {
		r.values = []value{r.located(content, root, outer)}
		return nil
	}
	for i, item := range items {
		r.values = append(r.values, r.located(item, root.Content[i], outer))
	}
	return nil
}
