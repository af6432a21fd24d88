/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
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
	for _, path := range files(t, "test/*.yaml", "docs/*.yaml", "samples/*.yaml") {
		for document := range strings.SplitSeq(read(t, path), "\n---\n") {
			var object any
			if err := yaml.Unmarshal([]byte(document), &object); err == nil && hasLiteralSecret(object) { // else, a test rejects it
				t.Errorf("%s: a Secret has a value that is not random: write a name such as $VALUE, which the test replaces by harness.Canary(t)", path)
			}
		}
	}
	for document, want := range map[string]bool{
		"{kind: Secret, data: {k: dg==}}": true, "{spec: {kind: Secret, stringData: {k: v}}}": true, "[{kind: Secret, data: {k: 5}}, {kind: Secret, stringData: {k: v}}]": true,
		"{kind: Secret, stringData: {k: $VALUE}}": false, "{kind: ConfigMap, data: {k: v}}": false,
	} {
		var object any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil || hasLiteralSecret(object) != want {
			t.Errorf("%s: got %t, %v, want %t", document, !want, err, want)
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

// hasLiteralSecret reports whether there is a Secret with a value in an object or in a part of it, such as an operation.
func hasLiteralSecret(value any) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, hasLiteralSecret)
	case map[string]any:
		for _, field := range []string{"data", "stringData"} {
			values, _ := value[field].(map[string]any)
			for _, one := range values {
				if text, ok := one.(string); ok && value["kind"] == "Secret" && !strings.HasPrefix(text, "$") {
					return true
				}
			}
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), hasLiteralSecret)
	}
	return false
}

// endsWithSearch matches the end of a suite that is searched.
var endsWithSearch = regexp.MustCompile(`harness\.Main(?:WithoutEnvironment)?\(m\b`)

// A suite that does not end with harness.Main or harness.MainWithoutEnvironment does not search what it prints. Suites of a fork are the same files. The only Secret of the manifests, which forks and
// samples have too, is that of the certificate, and the search finds its private key by itself.
func TestSuites_EachEnvironment_IsSearched(t *testing.T) {
	ended, uses := map[string]bool{}, map[string]string{}
	for _, path := range files(t, "test/*_test.go") {
		content, suite := read(t, path), filepath.Dir(path)
		if endsWithSearch.MatchString(content) {
			ended[suite] = true
		}
		if strings.Contains(content, "harness.Shared(") || strings.Contains(content, "harness.Own(") {
			uses[suite] = path
		}
	}
	delete(uses, "test/repository")
	for suite, path := range uses {
		if !ended[suite] {
			t.Errorf("%s: the suite needs a TestMain that calls harness.Main or harness.MainWithoutEnvironment", path)
		}
	}
	for _, path := range files(t, "config/*.yaml", "samples/*.yaml", "kustomize/*.yaml", "post-install/*.yaml", "optional/*.yaml") {
		if content := read(t, path); regexp.MustCompile(`(?m)^kind: Secret$`).MatchString(content) && regexp.MustCompile(`(?m)^(stringData|data):`).MatchString(content) {
			t.Errorf("%s: a Secret has a value, which no test searches for", path)
		}
	}
}
