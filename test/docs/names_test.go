/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNames_CitedTests_Exist checks that each test that a document names is declared.
func TestNames_CitedTests_Exist(t *testing.T) {
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		content, err := os.ReadFile(path)
		for _, match := range declaration.FindAllSubmatch(content, -1) {
			declared[string(match[1])] = true
		}
		return err
	})
	if err != nil || len(declared) == 0 {
		t.Fatalf("finding the tests: %v (%d tests)", err, len(declared))
	}
	named := regexp.MustCompile("`(Test\\w+)`")
	for _, file := range documents(t) {
		for _, match := range named.FindAllStringSubmatch(read(t, file), -1) {
			if !declared[match[1]] {
				t.Errorf("%s: there is no test %s", file, match[1])
			}
		}
	}
}

// TestNames_LinkedIdentifiers_AreDeclaredInTheFile checks links from the name of a function, type or constant to a Go file.
func TestNames_LinkedIdentifiers_AreDeclaredInTheFile(t *testing.T) {
	link := regexp.MustCompile("\\[`(\\w+)`\\]\\(([^)#]+\\.go)\\)")
	links := 0
	for _, file := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, file), -1) {
			links++
			name, target := match[1], match[2]
			if name == filepath.Base(filepath.Dir(target)) {
				continue // the package
			}
			content := read(t, filepath.Join(filepath.Dir(file), target))
			declaration := `(?m)^(func (\([^)]*\) )?%[\[(]|type %[ \[]|(var |const |\t)%( \S+)? =)`
			if !regexp.MustCompile(strings.ReplaceAll(declaration, "%", name)).MatchString(content) {
				t.Errorf("%s: %s does not declare %s", file, target, name)
			}
		}
	}
	if links == 0 {
		t.Error("there is no such link")
	}
}
