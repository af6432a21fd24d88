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
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	kubernetesyaml "sigs.k8s.io/yaml"
)

// mostNodes bounds the values of a file, of which aliases can make many from few bytes.
const mostNodes = 1_000_000

// yamlReader reads the documents of a YAML stream.
type yamlReader struct {
	decoder      *yaml.Decoder
	nodes, depth int
}

func newYAMLReader(content []byte) *yamlReader {
	return &yamlReader{decoder: yaml.NewDecoder(bytes.NewReader(content))}
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// read returns the next document, and io.EOF after the last one. A document without a value is left out.
func (r *yamlReader) read() (value, error) {
	for {
		var node yaml.Node
		err := r.decoder.Decode(&node)
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
		return r.convert(node.Content[0])
	}
}

func (r *yamlReader) convert(node *yaml.Node) (value, error) {
	at := position{node.Line, node.Column}
	if r.nodes++; r.nodes > mostNodes {
		return value{}, &positioned{at, fmt.Sprintf("the file has more than %d values", mostNodes)}
	}
	if r.depth++; r.depth > mostLevels {
		return value{}, tooDeep(at)
	}
	defer func() { r.depth-- }()
	switch node.Kind {
	case yaml.AliasNode:
		return r.convert(node.Alias)
	case yaml.MappingNode:
		return r.object(node)
	case yaml.SequenceNode:
		result := value{position: at, kind: list}
		for _, item := range node.Content {
			inner, err := r.convert(item)
			if err != nil {
				return value{}, err
			}
			result.items = append(result.items, inner)
		}
		return result, nil
	default:
		content, err := scalarOf(node)
		if err != nil {
			return value{}, &positioned{at, err.Error()}
		}
		return value{position: at, kind: scalar, scalar: content}, nil
	}
}

// object returns the value of a mapping. As with kubectl, a merge key replaces the fields before it, and fields after it replace merged ones.
func (r *yamlReader) object(node *yaml.Node) (value, error) {
	result, set, indexes := value{position: position{node.Line, node.Column}, kind: object}, fieldNames{}, map[string]int{}
	put := func(f field) {
		if i, ok := indexes[f.name]; ok {
			result.fields[i] = f
			return
		}
		indexes[f.name] = len(result.fields)
		result.fields = append(result.fields, f)
	}
	for i := 0; i < len(node.Content); i += 2 {
		key, at := node.Content[i], position{node.Content[i].Line, node.Content[i].Column}
		inner, err := r.convert(node.Content[i+1])
		if err != nil {
			return value{}, err
		}
		if key.Tag == "!!merge" {
			maps := []value{inner}
			if inner.kind == list {
				maps = inner.items
			}
			for _, merged := range slices.Backward(maps) {
				if merged.kind != object {
					return value{}, &positioned{at, "<< needs an object or a list of objects"}
				}
				for _, f := range merged.fields {
					put(f)
				}
			}
			continue
		}
		name, err := nameOf(key)
		if err != nil {
			return value{}, &positioned{at, err.Error()}
		}
		f := field{at, name, inner}
		if err := set.add(f); err != nil {
			return value{}, err
		}
		put(f)
	}
	return result, nil
}

// nameOf returns the name that kubectl reads from a key: yes is the name true, and 0x10 the name 16.
func nameOf(key *yaml.Node) (string, error) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		return "", errors.New("a key must be a string")
	}
	text, plain := textOf(key)
	if !plain {
		return text, nil
	}
	encoded, err := kubernetesyaml.YAMLToJSON([]byte("? " + text + "\n: 0"))
	if err != nil {
		return "", fmt.Errorf("a key must be a string, not %s", key.Value)
	}
	named, err := newJSONReader(encoded).read()
	if err != nil || len(named.fields) != 1 {
		return key.Value, nil //nolint:nilerr // a text that means something else without its context
	}
	return named.fields[0].name, nil
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
func scalarOf(node *yaml.Node) (any, error) {
	text, derived := textOf(node)
	if !derived {
		return text, nil
	}
	encoded, err := kubernetesyaml.YAMLToJSON([]byte("- " + text))
	if err != nil {
		return nil, errors.New("the value has no form in JSON: quote it if it is a text")
	}
	items, err := newJSONReader(encoded).read()
	if err != nil {
		return nil, errors.New("the integer has more than 64 bits")
	}
	content := items.items[0]
	if _, isText := content.scalar.(string); content.kind != scalar || isText && text == node.Value {
		return node.Value, nil // the text means something else without its context
	}
	return content.scalar, nil
}
