/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	kubernetesyaml "sigs.k8s.io/yaml"
)

// mostMarks bounds the characters that may begin the values of a YAML document. Its library returns the nodes of a whole document, each of which
// needs 200 bytes, and there are at most three for each such character.
const mostMarks = 250_000

// yamlWeight is the number of values as which a value of YAML counts, since two libraries read it. A document counts as an object.
const yamlWeight = 2

// dense returns the offset at which a document has more than mostMarks, or -1.
func dense(document []byte) int {
	marks := 0
	for i, c := range document {
		switch next := document[min(i+1, len(document)-1)]; {
		case c == ',', c == '[', c == '{', (c == '-' || c == ':' || c == '?') && (next <= ' ' || next >= utf8.RuneSelf || next == ','):
			marks++
		}
		if marks > mostMarks {
			return i
		}
	}
	return -1
}

// yamlReader reads documents by the conversion to JSON that kubectl uses, so that they mean the same. Another reader has the positions.
type yamlReader struct {
	*room

	rest   []byte
	line   int         // before the present document
	lines  int         // of it
	values *jsonReader // of it
	nodes  []*yaml.Node
}

func newYAMLReader(content []byte, of *room) *yamlReader { return &yamlReader{room: of, rest: content} }

func (r *yamlReader) at(node *yaml.Node) position { return position{r.line + node.Line, node.Column} }

// read returns the next document, and io.EOF after the last one. A document without a value is left out.
func (r *yamlReader) read(outer int) (value, error) {
	for {
		if r.values != nil {
			read, err := r.values.read(outer)
			if bad, ok := errors.AsType[*positioned](err); ok {
				return value{}, &positioned{r.at(r.nodes[0]), bad.message}
			}
			if err == nil {
				read, r.nodes = r.located(read, r.nodes[0]), r.nodes[1:]
				return read, nil
			}
			r.values = nil
		}
		if len(r.rest) == 0 {
			return value{}, io.EOF
		}
		if err := r.next(outer); err != nil {
			return value{}, err
		}
	}
}

var documentEnd = regexp.MustCompile(`\n---(?:\s|$)`)

// next reads the next document. With outer levels, its values are those of a list.
func (r *yamlReader) next(outer int) error {
	document := r.rest
	if end := documentEnd.FindIndex(document); end != nil {
		document = document[:end[0]+1]
	}
	r.rest = r.rest[len(document):]
	r.line, r.lines = r.line+r.lines, bytes.Count(document, []byte("\n"))
	begin := position{r.line + 1, 1}
	if i := dense(document); i >= 0 {
		begin.line += bytes.Count(document[:i], []byte("\n"))
		return &positioned{begin, fmt.Sprintf("the document has more than %d commas, brackets, colons and dashes: split it by ---, or write JSON", mostMarks)}
	}
	if err := r.take(begin, yamlWeight*objectValues, ""); err != nil {
		return err
	}
	var node, other yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(document))
	switch err := decoder.Decode(&node); {
	case errors.Is(err, io.EOF), err == nil && node.Content[0].Tag == "!!null":
		return nil
	case err != nil:
		return r.fault(err)
	case !errors.Is(decoder.Decode(&other), io.EOF):
		return &positioned{begin, "the document continues after its end: begin another document by ---"}
	}
	if err := r.check(node.Content[0]); err != nil {
		return err
	}
	if r.nodes = node.Content; outer == outerLevels && r.nodes[0].Kind == yaml.SequenceNode {
		r.nodes = r.nodes[0].Content
	}
	encoded, err := kubernetesyaml.YAMLToJSON(document)
	if err != nil {
		return r.fault(err)
	}
	r.values = newJSONReader(encoded, &room{}) // which the nodes have taken
	return nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// fault returns an error of a library with its position, and without values.
func (r *yamlReader) fault(err error) error {
	match := yamlLine.FindStringSubmatch(err.Error())
	switch {
	case match != nil && strings.HasPrefix(match[2], "unknown anchor"): // with its name, which may be a password that begins with an asterisk
		match[2] = "an alias refers to no anchor: quote a text that begins with *"
	case match == nil || match[1] == "":
		return &positioned{position{r.line + 1, 1}, "a value of the document has no form in JSON: quote it if it is a text"}
	}
	line, _ := strconv.Atoi(match[1]) // empty without a line
	return &positioned{position{r.line + max(1, line), 1}, strings.ReplaceAll(match[2], "\n", " ")}
}

// check bounds what the conversion does not bound: the nesting of values, and what aliases repeat. It rejects keys that occur twice.
func (r *yamlReader) check(node *yaml.Node) error {
	r.levels++
	defer func() { r.levels-- }()
	weight, text := 1, ""
	switch node.Kind {
	case yaml.AliasNode:
		return r.check(node.Alias)
	case yaml.MappingNode:
		weight = objectValues
	case yaml.ScalarNode:
		text = node.Value
	}
	if err := r.take(r.at(node), yamlWeight*weight, text); err != nil {
		return err
	}
	keys := map[string]position{}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Kind == yaml.ScalarNode {
			if before, ok := keys[child.Value]; ok {
				return &positioned{r.at(child), fmt.Sprintf("%s is set already at %d:%d", child.Value, before.line, before.column)}
			}
			keys[child.Value] = r.at(child)
		}
		if err := r.check(child); err != nil {
			return err
		}
	}
	return nil
}

// located returns a value with the positions of its node. Fields that are merged from another object have that of the object.
func (r *yamlReader) located(of value, node *yaml.Node) value {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	of.position = r.at(node)
	found, _ := of.content.(fields)
	for name, f := range found {
		f.position, f.value.position = of.position, of.position
		found[name] = f
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if f, ok := found[node.Content[i].Value]; ok {
			f.position, f.value = r.at(node.Content[i]), r.located(f.value, node.Content[i+1])
			found[f.name] = f
		}
	}
	return of
}
