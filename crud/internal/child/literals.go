/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package child

import (
	"encoding/json"
	"regexp"
)

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
