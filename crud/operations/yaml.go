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
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	kubernetesyaml "sigs.k8s.io/yaml"
)

// mostMarks bounds the characters that may begin the values of a YAML document. Its library returns the nodes of a whole document, each of which
// needs 200 bytes, and there are at most three for each such character.
const mostMarks = 250_000

// dense returns the position at which a document has more than mostMarks.
func dense(content []byte) (at position, found bool) {
	at, marks := position{1, 1}, 0
	for i, c := range content {
		switch next := content[min(i+1, len(content)-1)]; {
		case c == '\n':
			if at.line++; bytes.HasPrefix(content[i+1:], []byte("---\n")) || bytes.HasPrefix(content[i+1:], []byte("--- ")) {
				marks = 0
			}
		case c == ',', c == '[', c == '{', (c == '-' || c == ':' || c == '?') && (next <= ' ' || next >= utf8.RuneSelf || next == ','):
			marks++
		}
		if marks > mostMarks {
			return at, true
		}
	}
	return at, false
}

type yamlReader struct {
	*room

	decoder *yaml.Decoder
	items   []*yaml.Node // of a list of documents
	known   map[string]any
	err     error
}

func newYAMLReader(content []byte, of *room) *yamlReader {
	r := &yamlReader{room: of, decoder: yaml.NewDecoder(bytes.NewReader(content)), known: map[string]any{}}
	if at, found := dense(content); found {
		r.err = &positioned{at, fmt.Sprintf("the document has more than %d commas, brackets, colons and dashes: split it by ---, or write JSON", mostMarks)}
	}
	return r
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// read returns the next document, and io.EOF after the last one. A document without a value is left out.
func (r *yamlReader) read(outer int) (value, error) {
	for r.err == nil {
		if len(r.items) > 0 {
			item := r.items[0]
			r.items = r.items[1:]
			return r.convert(item, outer)
		}
		var node yaml.Node
		err := r.decoder.Decode(&node)
		r.err = r.take(position{max(1, node.Line), 1}, objectValues, "")
		if errors.Is(err, io.EOF) {
			return value{}, io.EOF
		}
		if err != nil {
			match := yamlLine.FindStringSubmatch(err.Error())
			if match == nil {
				return value{}, &positioned{position{1, 1}, err.Error()}
			}
			line, _ := strconv.Atoi(match[1])                  // empty without a line
			if strings.HasPrefix(match[2], "unknown anchor") { // with its name, which may be a password that begins with an asterisk
				match[2] = "an alias refers to no anchor: quote a text that begins with *"
			}
			return value{}, &positioned{position{max(1, line), 1}, strings.ReplaceAll(match[2], "\n", " ")}
		}
		if len(node.Content) != 1 || node.Content[0].Tag == "!!null" {
			continue
		}
		if r.items = node.Content; outer == outerLevels && r.items[0].Kind == yaml.SequenceNode {
			r.items = r.items[0].Content
		}
	}
	return value{}, r.err
}

func (r *yamlReader) convert(node *yaml.Node, outer int) (value, error) {
	at := position{node.Line, node.Column}
	r.levels++
	defer func() { r.levels-- }()
	weight, text := 1, ""
	switch node.Kind {
	case yaml.MappingNode:
		weight = objectValues
	case yaml.ScalarNode:
		text = node.Value
	}
	if err := r.take(at, weight, text); err != nil {
		return value{}, err
	}
	var content any
	var err error
	switch node.Kind {
	case yaml.AliasNode:
		return r.convert(node.Alias, outer)
	case yaml.MappingNode:
		content, err = r.object(node, outer)
	case yaml.SequenceNode:
		content, err = r.list(node)
	default:
		content, err = r.scalarOf(node, at)
	}
	return value{at, content}, err
}

func (r *yamlReader) list(node *yaml.Node) (any, error) {
	items := []any{}
	for _, node := range node.Content {
		item, err := r.convert(node, 0)
		if err != nil {
			return nil, err
		}
		items = append(items, item.content)
	}
	return items, nil
}

// object returns the fields of a mapping. As with kubectl, a merge key replaces the fields before it, and fields after it replace merged ones.
func (r *yamlReader) object(node *yaml.Node, outer int) (any, error) {
	result := newBuilder(outer)
	for i := 0; i < len(node.Content); i += 2 {
		key, at := node.Content[i], position{node.Content[i].Line, node.Content[i].Column}
		if key.Tag == "!!merge" {
			if err := r.merge(result, at, node.Content[i+1], outer); err != nil {
				return nil, err
			}
			continue
		}
		name, err := r.nameOf(key, at)
		if err != nil {
			return nil, err
		}
		inner, err := r.convert(node.Content[i+1], below(outer, name))
		if err == nil {
			err = r.add(result, field{at, name, inner})
		}
		if err != nil {
			return nil, err
		}
	}
	return result.content(), nil
}

// merge puts the fields of an object, or of a list of objects, of which the first ones have precedence.
func (r *yamlReader) merge(into *builder, at position, node *yaml.Node, outer int) error {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	nodes := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		nodes = node.Content
	}
	for _, node := range slices.Backward(nodes) {
		merged, err := r.convert(node, outer)
		if err != nil {
			return err
		}
		switch from := merged.content.(type) {
		case fields:
			maps.Copy(into.outer, from)
		case map[string]any:
			maps.Copy(into.inner, from)
		default:
			return &positioned{at, "<< needs an object or a list of objects"}
		}
	}
	return nil
}

// resolve returns the value of a document that kubectl reads from YAML, or errNoJSON. That is expensive, so that the result is kept.
func (r *yamlReader) resolve(document string, at position) (any, error) {
	if content, ok := r.known[document]; ok {
		return content, nil
	}
	if err := r.take(at, resolvedValues, ""); err != nil {
		return nil, err
	}
	encoded, err := kubernetesyaml.YAMLToJSON([]byte(document))
	if err != nil {
		return nil, errNoJSON
	}
	resolved, err := newJSONReader(encoded, &room{}).read(0)
	if err == nil {
		r.known[document] = resolved.content
	}
	return resolved.content, err
}

var errNoJSON = errors.New("the value has no form in JSON")

// nameOf returns the name that kubectl reads from a key: yes is the name true, and 0x10 the name 16.
func (r *yamlReader) nameOf(key *yaml.Node, at position) (string, error) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		return "", &positioned{at, "a key must be a string"}
	}
	text, derived := textOf(key)
	if !derived {
		return text, nil
	}
	resolved, err := r.resolve("? "+text+"\n: 0", at)
	if errors.Is(err, errNoJSON) {
		return "", &positioned{at, "a key must be a string, not " + key.Value}
	}
	if names, _ := resolved.(map[string]any); len(names) == 1 {
		for name := range names {
			return name, nil
		}
	}
	return key.Value, err // a text that means something else without its context
}

// textOf returns the text of a scalar, and whether it is one whose type YAML derives from the text or a tag, which the text then contains.
func textOf(node *yaml.Node) (text string, derived bool) {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if node.Style&yaml.TaggedStyle != 0 {
		return node.Tag + " " + strconv.Quote(node.Value), true
	}
	return node.Value, node.Style&quoted == 0 && notText.MatchString(node.Value)
}

// notText matches what YAML 1.1 may read as null, a boolean or a number.
var notText = regexp.MustCompile(`^(~|[yYnNtTfFoO][a-zA-Z]{0,4}|[-+.0-9<].*)?$`)

// scalarOf returns the value that kubectl reads: it resolves scalars as YAML 1.1 does, whereas the reader, which has positions, follows YAML 1.2.
func (r *yamlReader) scalarOf(node *yaml.Node, at position) (any, error) {
	text, derived := textOf(node)
	if integer, err := strconv.ParseInt(text, 10, 64); derived && err == nil && strconv.FormatInt(integer, 10) == text {
		return integer, nil
	}
	if !derived {
		return text, nil
	}
	resolved, err := r.resolve("- "+text, at)
	switch _, isPositioned := errors.AsType[*positioned](err); {
	case errors.Is(err, errNoJSON):
		return nil, &positioned{at, errNoJSON.Error() + ": quote it if it is a text"}
	case isPositioned:
		return nil, err
	}
	items, _ := resolved.([]any) // as the document
	switch content := items[0].(type) {
	case map[string]any, []any:
		return node.Value, nil // the text means something else without its context
	case string:
		if text == node.Value {
			return node.Value, nil
		}
		return content, nil
	default:
		return content, nil
	}
}
