/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	holder = "Copyright 2026 The Mallard Authors."
	spdx   = "SPDX-License-Identifier: Apache-2.0"
)

// The beginning of a file is where people and tools look for its license; a script's first line is taken.
const headLength = 200

func TestSources_Headers_NameTheLicense(t *testing.T) {
	for _, path := range files(t, "*.go", "*.sh", ".ci/run", "Makefile", "*.proto") {
		content := read(t, path)
		head := content[:min(len(content), headLength)]
		if !strings.Contains(head, holder) || !strings.Contains(head, spdx) {
			t.Errorf("%s does not begin with the license header of hack/boilerplate", path)
		}
	}
}

// What generators write has to be known as such to git, to the linters and to make cover, all by the same header.
var generatedHeader = regexp.MustCompile(`(?m)^(//|#) Code generated .* DO NOT EDIT\.$`)

func TestSources_GeneratedFiles_AreMarked(t *testing.T) {
	paths := files(t, "*.go", "*.yaml")
	marks := output(t, "git", append([]string{"check-attr", "linguist-generated", "--"}, paths...)...)
	marked := make(map[string]bool)
	for line := range strings.Lines(marks) {
		path, value, _ := strings.Cut(strings.TrimSpace(line), ": linguist-generated: ")
		marked[path] = value == "true"
	}
	for _, path := range paths {
		content := read(t, path)
		generated := generatedHeader.MatchString(content[:min(len(content), 2*headLength)])
		if generated && !marked[path] {
			t.Errorf("%s is generated: name it in .gitattributes", path)
		}
		if !generated && marked[path] {
			t.Errorf("%s is marked as generated in .gitattributes and does not say so itself", path)
		}
	}
}

// Paths and host names of one machine work on no other.
func TestSources_Paths_NameNoMachine(t *testing.T) {
	patterns := []string{`/home/[a-z][\w.-]*/`, `/Users/[A-Za-z][\w.-]*/`, `(^|["'=:\s(])/root/`}
	if home, err := os.UserHomeDir(); err == nil && home != "/" {
		patterns = append(patterns, regexp.QuoteMeta(home)+`(/|\b)`)
	}
	if checkout, err := filepath.Abs(root); err == nil {
		patterns = append(patterns, regexp.QuoteMeta(checkout)+`(/|\b)`)
	}
	if host, err := os.Hostname(); err == nil && len(host) > 8 { // a short one is a word that means something else
		patterns = append(patterns, `\b`+regexp.QuoteMeta(host)+`\b`)
	}
	machine := regexp.MustCompile(`(?m)` + strings.Join(patterns, "|"))
	for _, path := range files(t) {
		// This file, and those in which a fork replaces modules with folders of the checkout that it was made from.
		if slices.Contains([]string{"test/repository/sources_test.go", ".template.yaml", "go.mod", "hack/tools/go.mod"}, path) {
			continue
		}
		content := read(t, path)
		if at := machine.FindStringIndex(content); at != nil {
			t.Errorf("%s:%d names a path or a host of one machine: %q", path, 1+strings.Count(content[:at[0]], "\n"), content[at[0]:at[1]])
		}
	}
}

// The comment of a package is in doc.go, where readers look for it. A program may say it in main.go, a package of one file there, and a generator in
// a file that it writes.
func TestSources_Packages_AreDocumented(t *testing.T) {
	code := make(map[string][]string)
	for _, path := range files(t, "*.go") {
		folder := filepath.Dir(path)
		if strings.HasPrefix(path, "pkg/client/") || strings.Contains(path, "testdata/") {
			continue
		}
		code[folder] = append(code[folder], path)
	}
	for _, folder := range slices.Sorted(maps.Keys(code)) {
		own := slices.DeleteFunc(slices.Clone(code[folder]), func(path string) bool { return strings.HasSuffix(path, "_test.go") })
		if !slices.ContainsFunc(code[folder], func(path string) bool {
			name := filepath.Base(path)
			expected := name == "doc.go" || name == "main.go" || slices.Equal(own, []string{path}) || generatedHeader.MatchString(read(t, path))
			return expected && hasPackageComment(t, path)
		}) {
			t.Errorf("the package in %s has no package comment: it has no doc.go", folder)
		}
	}
}

func hasPackageComment(t *testing.T, path string) bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, read(t, path), parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return file.Doc != nil
}

// TestGroup_GoCode_UsesItsConstant lets a fork rename the API group in one line of Go. Texts that give an example of a name may spell it, and
// runtime, which must not import the constant, may use other names below the group.
func TestGroup_GoCode_UsesItsConstant(t *testing.T) {
	const group, constant = "samples.knative.dev", "pkg/apis/samples/register.go"
	examples := []string{"cmd/", "pkg/migration/"}
	for _, path := range files(t, "cmd/*.go", "pkg/*.go") {
		if path == constant || strings.HasSuffix(path, "_test.go") || generatedHeader.MatchString(read(t, path)) ||
			slices.ContainsFunc(examples, func(folder string) bool { return strings.HasPrefix(path, folder) }) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && strings.Contains(literal.Value, group) {
				t.Errorf("%s: %s: use the constant of %s", path, literal.Value, constant)
			}
			return true
		})
	}
}
