/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// text makes texts until the API server's own validation accepts one.
func (g *schemaValues) text(schema *apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	validate, err := validator(schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	longest := 40
	if schema.MaxLength != nil {
		longest = min(longest, int(*schema.MaxLength))
	}
	for range attempts {
		candidate, err := g.candidate(schema, longest)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if validate(candidate) == nil {
			return candidate, nil
		}
	}
	return nil, fmt.Errorf("%s: found no text that is valid among %d (pattern %q, format %q)", path, attempts, schema.Pattern, schema.Format)
}

// validator returns a function that says why a value is not valid against a schema, by the library that the API server validates
// with.
func validator(schema *apiextensionsv1.JSONSchemaProps) (func(value any) error, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	var openapi spec.Schema
	if err := json.Unmarshal(text, &openapi); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	validator := validate.NewSchemaValidator(&openapi, nil, "", strfmt.Default)
	return func(value any) error { return validator.Validate(value).AsError() }, nil
}

func (g *schemaValues) candidate(schema *apiextensionsv1.JSONSchemaProps, longest int) (string, error) {
	switch {
	case schema.Format == "date-time":
		const seconds = 4e9
		return time.Unix(g.random.Int63n(seconds), 0).UTC().Format(time.RFC3339), nil
	case schema.Format == "uri":
		return g.uri(), nil
	case schema.Pattern != "":
		expression, err := syntax.Parse(schema.Pattern, syntax.Perl)
		if err != nil {
			return "", fmt.Errorf("reading the pattern: %w", err)
		}
		var text strings.Builder
		g.match(expression, &text)
		return text.String(), nil
	default:
		return g.anyText(longest), nil
	}
}

// anyText is any text, up to so many characters.
func (g *schemaValues) anyText(longest int) string {
	var text strings.Builder
	for range g.random.Intn(longest + 1) {
		switch g.random.Intn(8) {
		case 0:
			text.WriteByte("\x00\n\"\\<>&~%"[g.random.Intn(9)])
		case 1:
			if r := g.random.Int31n(utf8.MaxRune); utf8.ValidRune(r) {
				text.WriteRune(r)
			}
		default:
			text.WriteByte("abcxyz019 .-/:"[g.random.Intn(14)])
		}
	}
	return text.String()
}

// uri is often one, of any sort.
func (g *schemaValues) uri() string {
	pick := func(parts ...string) string { return parts[g.random.Intn(len(parts))] }
	return pick("http://", "https://", "HTTP://", "urn:", "/", "//", "mailto:", "") +
		pick("", "u@", "u:p@") + pick("a", "a.example.com", "[::1]", "10.0.0.1", "[fe80::1%25en0]", "ü") + pick("", ":80", ":", ":x") +
		pick("", "/", "/p/", "/a%2Fb", "/%zz", "/a b", "/ü", "/..//.") + pick("", "?", "?a=b&c", "?%") + pick("", "#", "#f", "#%zz", "#%2F#")
}

// match writes a text that a regular expression matches. The caller checks it, for it may be too long, or break assertions.
func (g *schemaValues) match(expression *syntax.Regexp, text *strings.Builder) {
	repeat := func(least, most int) {
		if most < 0 {
			most = least + usualElements
		}
		for range least + g.random.Intn(min(most-least, usualElements)+1) {
			g.match(expression.Sub[0], text)
		}
	}
	switch expression.Op {
	case syntax.OpLiteral:
		text.WriteString(string(expression.Rune))
	case syntax.OpCharClass:
		between := g.random.Intn(len(expression.Rune)/2) * 2
		low, high := expression.Rune[between], expression.Rune[between+1]
		text.WriteRune(low + g.random.Int31n(high-low+1))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		text.WriteString("x")
	case syntax.OpStar:
		repeat(0, -1)
	case syntax.OpPlus:
		repeat(1, -1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(expression.Min, expression.Max)
	case syntax.OpAlternate:
		g.match(expression.Sub[g.random.Intn(len(expression.Sub))], text)
	case syntax.OpCapture, syntax.OpConcat:
		for _, each := range expression.Sub {
			g.match(each, text)
		}
	default: // what matches no character, such as the beginning and the end
	}
}
