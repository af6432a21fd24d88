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
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// jsonNodes returns the nodes of JSON as the library returns those of YAML. Both texts are a valid document, except that text can have line breaks
// in strings.
func jsonNodes(text, valid []byte) *yaml.Node {
	tokens, at, done := json.NewDecoder(bytes.NewReader(valid)), position{1, 1}, 0
	tokens.UseNumber()
	var next func() *yaml.Node
	next = func() *yaml.Node {
		begin := int(tokens.InputOffset())
		begin = len(text) - len(bytes.TrimLeft(text[begin:], " \t\r\n,:"))
		at, done = at.after(text[done:begin]), begin
		node := &yaml.Node{Kind: yaml.ScalarNode, Line: at.line, Column: at.column}
		token, _ := tokens.Token()
		switch token := token.(type) {
		case json.Delim:
			if node.Kind = yaml.SequenceNode; token == '{' {
				node.Kind = yaml.MappingNode
			}
			for tokens.More() {
				node.Content = append(node.Content, next())
			}
			_, _ = tokens.Token() // the end
		case string:
			node.Style, node.Value = yaml.DoubleQuotedStyle, token
		default:
			node.Value = fmt.Sprint(token)
		}
		return node
	}
	return next()
}

// mostMarks bounds the characters that may begin the values of a document. A library returns the nodes of a whole document, each of which needs 200
// bytes, and there are at most three for each such character.
const mostMarks = 250_000

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

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// fault returns an error of a library with its position, and without values.
func (r *reader) fault(err error) error {
	match := yamlLine.FindStringSubmatch(err.Error())
	switch {
	case match != nil && strings.HasPrefix(match[2], "unknown anchor"): // with its name, which may be a password that begins with an asterisk
		match[2] = "an alias refers to no anchor: quote a text that begins with *"
	case match == nil || match[1] == "":
		return &positioned{r.begin, "a value of the document has no form in JSON: quote it if it is a text"}
	}
	line, _ := strconv.Atoi(match[1]) // empty without a line
	return &positioned{position{r.begin.line + max(1, line) - 1, 1}, strings.ReplaceAll(match[2], "\n", " ")}
}

// at returns the position of a node in the file.
func (r *reader) at(node *yaml.Node) position {
	if node.Line == 1 {
		return position{r.begin.line, r.begin.column + node.Column - 1}
	}
	return position{r.begin.line + node.Line - 1, node.Column}
}

// check bounds what the conversion does not bound: the nesting of values, and what aliases repeat. It rejects keys that occur twice, and numbers that
// would be rounded.
func (r *reader) check(node *yaml.Node) error {
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
	default: // a list
	}
	err := r.take(r.at(node), weight, text)
	keys := map[string]position{}
	for i, child := range node.Content {
		switch isKey := node.Kind == yaml.MappingNode && i%2 == 0; {
		case err != nil:
			return err
		case child.Kind != yaml.ScalarNode:
		case isKey:
			name := nameOf(child)
			if before, isSet := keys[name]; isSet {
				return &positioned{r.at(child), fmt.Sprintf("%s is set already at %d:%d", child.Value, before.line, before.column)}
			}
			keys[name] = r.at(child)
		default:
			err = r.checkNumber(child)
		}
		if err == nil {
			err = r.check(child)
		}
	}
	return err
}

// booleans are those of YAML 1.1 that the library reads as texts.
var booleans = map[string]bool{"y": true, "yes": true, "on": true, "n": false, "no": false, "off": false}

// nameOf returns a key as the conversion to JSON writes it: yes is the same as true.
func nameOf(key *yaml.Node) string {
	if boolean, ok := booleans[strings.ToLower(key.Value)]; ok && key.Style == 0 {
		return strconv.FormatBool(boolean)
	}
	var converted any
	if key.Style != 0 || key.Decode(&converted) != nil { // the conversion rejects what cannot be decoded
		return key.Value
	}
	return fmt.Sprint(converted)
}

func (r *reader) checkNumber(node *yaml.Node) error {
	if node.Style != 0 {
		return nil
	}
	// YAML has other bases and underscores. Beyond 64 bits, such an integer is a text.
	plain := strings.ReplaceAll(node.Value, "_", "")
	_, decimal := strconv.ParseInt(plain, 10, 64)
	_, signed := strconv.ParseInt(plain, 0, 64)
	_, unsigned := strconv.ParseUint(plain, 0, 64)
	if errors.Is(decimal, strconv.ErrRange) || errors.Is(signed, strconv.ErrRange) && unsigned == nil {
		return &positioned{r.at(node), "the integer has more than 64 bits"}
	}
	if _, err := strconv.ParseFloat(node.Value, 64); r.json != nil && errors.Is(err, strconv.ErrRange) { // in YAML it is a text
		return &positioned{r.at(node), "the number is too large"}
	}
	return nil
}

// located returns a value with its position, and those of the fields of its outer levels. Fields that are merged from another object have that of the
// object.
func (r *reader) located(content any, node *yaml.Node, outer int) value {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	object, isObject := content.(map[string]any)
	if !isObject || outer == 0 {
		return value{r.at(node), content}
	}
	found := fields{}
	for name, inner := range object {
		found[name] = field{r.at(node), name, r.located(inner, &yaml.Node{Line: node.Line, Column: node.Column}, below(outer, name))}
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if inner, ok := object[key.Value]; ok {
			found[key.Value] = field{r.at(key), key.Value, r.located(inner, node.Content[i+1], below(outer, key.Value))}
		}
	}
	return value{r.at(node), found}
}
