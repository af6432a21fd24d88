/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/itchyny/gojq"
)

func compile(program string) (*gojq.Code, error) {
	query, err := gojq.Parse(program)
	if bad, ok := errors.AsType[*gojq.ParseError](err); ok && !punctuation.MatchString(bad.Token) {
		err = fmt.Errorf("unexpected token that ends at byte %d", bad.Offset) // it may be a part of a value
	}
	if err != nil {
		return nil, fmt.Errorf("parsing the jq program: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, fmt.Errorf("compiling the jq program: %w", err)
	}
	return code, nil
}

var (
	punctuation = regexp.MustCompile(`^\W{0,3}$`)
	// problem is the beginning of an error of gojq, which puts values into quotes, brackets or parentheses, or after a colon.
	problem = regexp.MustCompile(`^@?\w+(?: [a-z]+)*(?:: (?:null|boolean|number|string|array|object)\b)?`)
)

func withoutValues(err error) error {
	if _, ok := errors.AsType[gojq.ValueError](err); ok {
		return errors.New("the jq program called error")
	}
	// A value that is left out may follow the word to.
	return fmt.Errorf("running the jq program: %s", strings.TrimSuffix(problem.FindString(err.Error()), " to"))
}

const text = `"((?:[^"\\]|\\.)*)"`

var (
	// literal has the text of a string as its last group, except for comments and the names of fields.
	literal       = regexp.MustCompile(`#.*|[\w\])?]\[` + text + `\]|\.` + text + `|` + text + `\s*:|` + text + `|(\b[0-9]+(?:\.[0-9]+)?)`)
	interpolation = regexp.MustCompile(`\\\(.*?\)`)
)

// Literals returns the strings and numbers that a program contains, except for names of fields and for what the interpolations of a string contain.
func Literals(program string) (all []string) {
	for _, found := range literal.FindAllStringSubmatch(program, -1) {
		for _, part := range append(interpolation.Split(found[4], -1), found[5]) {
			decoded := part
			_ = json.Unmarshal([]byte(`"`+part+`"`), &decoded) // an escape of jq that JSON does not have stays
			if decoded != "" {
				all = append(all, decoded)
			}
		}
	}
	return all
}
