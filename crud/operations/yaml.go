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
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mostNodes bounds the values of a file, of which aliases can make many from few bytes.
const mostNodes = 1_000_000

// yamlReader reads the documents of a YAML stream.
type yamlReader struct {
	decoder *yaml.Decoder
	nodes   int
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
			line, _ := strconv.Atoi(match[1]) // empty without a line
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
	switch node.Kind {
	case yaml.AliasNode:
		return r.convert(node.Alias)
	case yaml.MappingNode:
		result, set := value{position: at, kind: object}, fieldNames{}
		for i := 0; i < len(node.Content); i += 2 {
			key := node.Content[i]
			inner, err := r.convert(node.Content[i+1])
			switch {
			case err != nil:
				return value{}, err
			case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
				return value{}, &positioned{position{key.Line, key.Column}, "a key must be a string"}
			}
			f := field{position{key.Line, key.Column}, key.Value, inner}
			if err := set.add(f); err != nil {
				return value{}, err
			}
			result.fields = append(result.fields, f)
		}
		return result, nil
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

func scalarOf(node *yaml.Node) (any, error) {
	switch node.Tag {
	case "!!null":
		return nil, nil //nolint:nilnil // the value is nil
	case "!!str", "!!timestamp":
		return node.Value, nil
	case "!!bool":
		return strings.EqualFold(node.Value, "true"), nil // the others that YAML 1.2 has are false
	case "!!int":
		var content int64
		if err := node.Decode(&content); err != nil {
			return nil, fmt.Errorf("the integer %s has more than 64 bits", node.Value)
		}
		return content, nil
	case "!!float":
		var content float64
		if err := node.Decode(&content); err != nil || math.IsNaN(content) || math.IsInf(content, 0) {
			return nil, fmt.Errorf("the number %s has no form in JSON", node.Value)
		}
		return content, nil
	}
	return nil, fmt.Errorf("the tag %s is not supported", node.Tag)
}
