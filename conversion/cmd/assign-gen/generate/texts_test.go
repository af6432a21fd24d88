/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Tests compare what each problem says, and its fix, with the result of an input that causes it.
func TestProblems_Texts_EachIsExpectedByATest(t *testing.T) {
	const fewest = 150
	var expected []string
	for _, file := range matching(t, "../*/*_test.go") {
		expected = append(expected, textsIn(t, file)...)
	}
	for _, file := range matching(t, problemsDir+"/*/want.txt") {
		expected = append(expected, strings.ReplaceAll(read(t, file), "\n        ", " "))
	}
	all, found := strings.Join(expected, "\n"), 0
	for _, file := range append(matching(t, "../plan/*.go"), append(matching(t, "../markers/*.go"), "../record/check.go")...) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, text := range textsIn(t, file) {
			const words = 3
			if len(strings.Fields(text)) < words {
				continue
			}
			found++
			parts := regexp.MustCompile(`%[a-z]|…`).Split(text, -1)
			for i, part := range parts {
				parts[i] = regexp.QuoteMeta(part)
			}
			if !regexp.MustCompile(strings.Join(parts, ".*")).MatchString(all) {
				t.Errorf("%s: no test expects %q", file, text)
			}
		}
	}
	if found < fewest {
		t.Errorf("there are %d texts, want at least %d", found, fewest)
	}
}

func matching(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || files == nil {
		t.Fatalf("%s: no files: %v", pattern, err)
	}
	return files
}

// textsIn are the strings in a Go file. Those that are added are one, with … for what is no constant.
func textsIn(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	var visit func(node ast.Node) bool
	var text func(of ast.Expr) string
	visit = func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if node.Op == token.ADD {
				texts = append(texts, text(node))
				return false
			}
		case *ast.BasicLit:
			if node.Kind == token.STRING {
				texts = append(texts, text(node))
			}
		}
		return true
	}
	text = func(of ast.Expr) string {
		switch of := of.(type) {
		case *ast.BinaryExpr:
			return text(of.X) + text(of.Y)
		case *ast.BasicLit:
			if value, err := strconv.Unquote(of.Value); err == nil && of.Kind == token.STRING {
				return value
			}
		default:
			ast.Inspect(of, visit)
		}
		return "…"
	}
	ast.Inspect(parsed, visit)
	return texts
}
