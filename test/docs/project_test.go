//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/test/moduleproxy"
)

const (
	generatorPage = "docs/tutorial/second-version.md"
	// example is the project that the page ends with.
	example = "conversion/example"
	// exampleTest is the name in the blocks of the page.
	exampleTest = "test/docs:TestProject_SecondVersionTutorial_WorksInAnEmptyFolder"
)

// TestProject_SecondVersionTutorial_WorksInAnEmptyFolder follows the page in an empty folder, with the modules of conversions from a module
// proxy. The folder then equals the example, so that the page omits nothing.
func TestProject_SecondVersionTutorial_WorksInAnEmptyFolder(t *testing.T) {
	_, environment := moduleproxy.New(t, root, "conversion", "conversion/knative", "conversion/cmd/assign-gen")
	r := &reader{dir: t.TempDir(), environment: environment, example: example}
	r.follow(t, generatorPage, exampleTest)
	r.expectExample(t)
}

// expectExample compares the folder with the example, except for comments about packages and the license.
func (r *reader) expectExample(t *testing.T) {
	t.Helper()
	folder := filepath.Join(root, example)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "go.mod" || entry.Name() == "go.sum" || entry.Name() == "doc.go" {
			return err
		}
		relative, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(r.dir, relative))
		if err != nil {
			t.Errorf("%s of %s does not result from the page: %v", relative, example, err)
		} else if want := read(t, filepath.Join(example, relative)); withoutLicense(string(got)) != withoutLicense(want) {
			t.Errorf("%s that results from the page differs from that of %s:\n%s", relative, example, got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// withoutLicense is a file without the comment that begins each of ours.
func withoutLicense(content string) string {
	before, comment, _ := strings.Cut(content, "/*\nCopyright")
	_, after, found := strings.Cut(comment, "*/\n")
	if !found {
		return content
	}
	return before + strings.TrimPrefix(after, "\n")
}
