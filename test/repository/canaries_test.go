/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"regexp"
	"strings"
	"testing"
)

// These match a value of a Secret that is written into the source of a test: in a Go type, in JSON or in YAML. Numbers are for mistakes.
var literalSecrets = []*regexp.Regexp{
	regexp.MustCompile(`\bStringData: +map\[string\]string\{"[^"]*": +"`),
	regexp.MustCompile(`\bData: +map\[string\]\[\]byte\{"[^"]*": +\[\]byte\("`),
	regexp.MustCompile(`\bstringData"?: *\{"?[\w.-]+"?: *"?[A-Za-z]`),
	regexp.MustCompile(`\bkind: Secret\b[^\n]*\bdata: *\{[\w.-]+: *"?[A-Za-z]`),
	regexp.MustCompile(`\bkind: Secret\n(?:\w[^\n]*\n)*(?:stringD|d)ata:(?: *\{|\n +)[\w.-]+: *"?[A-Za-z]`),
}

// The end of a suite searches everything for the canaries, so that no other value shows a leak.
func TestSuites_ValuesOfSecrets_AreCanaries(t *testing.T) {
	for _, path := range files(t, "test/*_test.go") {
		if path == "test/repository/canaries_test.go" {
			continue
		}
		content := read(t, path)
		for _, literal := range literalSecrets {
			for _, at := range literal.FindAllStringIndex(content, -1) {
				line := 1 + strings.Count(content[:at[0]], "\n")
				t.Errorf("%s:%d: a Secret has a value that is not random: use harness.Canary(t)", path, line)
			}
		}
	}
	for _, leak := range []string{
		`StringData: map[string]string{"k": "v"}`, `Data: map[string][]byte{"k": []byte("v")}`, `stringData: {k: v}`, `{"stringData": {"k": "v"}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: dg==}}`, "kind: Secret\nmetadata: {name: a}\nstringData:\n  k: v\n",
	} {
		found := false
		for _, literal := range literalSecrets {
			found = found || literal.MatchString(leak)
		}
		if !found {
			t.Errorf("%q is not found", leak)
		}
	}
}
