/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"errors"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	harnessPackage = "localcluster/env/harness"
	nightly        = "nightly"
)

// TestSuites_SeparateEnvironments_AreInTheTable compares the table in test/doc.go with the suites that start environments of their
// tests, and with the tier in which they do.
func TestSuites_SeparateEnvironments_AreInTheTable(t *testing.T) {
	separate := []string{"Own", "Separate"}
	// The source of the options shows which of them imply Separate.
	option := regexp.MustCompile(`(?s)\nfunc (\w+)\([^\n]*\) Option \{.*?\n`)
	options := read(t, harnessPackage+"/options.go")
	for i, match := range option.FindAllStringSubmatchIndex(options, -1) {
		next := len(options)
		if all := option.FindAllStringIndex(options, -1); i+1 < len(all) {
			next = all[i+1][0]
		}
		if body := options[match[0]:next]; strings.Contains(body, "s.separate") {
			separate = append(separate, options[match[2]:match[3]])
		}
	}
	if !slices.Contains(separate, "WithReplicas") || slices.Contains(separate, "Bare") {
		t.Fatalf("the options that imply Separate are %q", separate)
	}

	type tiers struct{ Test, Nightly bool }
	got := map[string]tiers{}
	for _, path := range files(t, "test/*.go") {
		content := read(t, path)
		if !callsHarness(t, path, content, separate) {
			continue
		}
		suite := strings.TrimPrefix(filepath.Dir(path), "test/")
		known := got[suite]
		if isNightly(t, content) {
			known.Nightly = true
		} else {
			known.Test = true
		}
		got[suite] = known
	}
	want := map[string]tiers{}
	for _, row := range regexp.MustCompile(`(?m)^//\t(\w+) +(yes|-) +(yes|-) +\S`).FindAllStringSubmatch(read(t, "test/doc.go"), -1) {
		// Forks keep the rows of suites that they leave out.
		if _, err := os.Stat(filepath.Join(root, "test", row[1])); !errors.Is(err, fs.ErrNotExist) {
			want[row[1]] = tiers{row[2] == "yes", row[3] == "yes"}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the suites that start separate environments, by tier (-test/doc.go +code):\n%s", diff)
	}
}

// callsHarness reports whether a file calls one of the functions of the harness.
func callsHarness(t *testing.T, path, content string, functions []string) bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	imported := slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == `"`+whole(harnessPackage)+`"` })
	calls := false
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			name, ok := selector.X.(*ast.Ident)
			calls = calls || ok && name.Name == "harness" && slices.Contains(functions, selector.Sel.Name)
		}
		return true
	})
	return imported && calls
}

// isNightly reports whether only make test-nightly compiles a file.
func isNightly(t *testing.T, content string) bool {
	t.Helper()
	line, _, _ := strings.Cut(content, "\n")
	if !constraint.IsGoBuild(line) {
		return false
	}
	expression, err := constraint.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return !expression.Eval(func(tag string) bool { return tag != nightly })
}
