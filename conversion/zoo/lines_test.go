/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// lines are hand-written lines of Go, without blank lines and comments.
type lines struct {
	// Code are those of hooks and conversion functions, Former those of hooks that only read annotations of the other project, and Tests those that make
	// random values.
	Code, Former, Tests int
	// Upstream are those of the other project's conversions.
	Upstream int
}

// countLines counts the hand-written lines of an API.
func (a *API) countLines(t testing.TB) (counted lines) {
	t.Helper()
	err := filepath.WalkDir(a.Dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && a.Upstream != nil && path == filepath.Join(a.Dir, a.Upstream.Program):
			return fs.SkipDir
		case strings.HasPrefix(path, filepath.Join(a.Dir, formerDir)):
			if filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
				counted.Former += countCode(read(t, path))
			}
		case strings.HasSuffix(path, "_test.go"):
			counted.Tests += countCode(read(t, path))
		case filepath.Ext(path) == ".go":
			counted.Code += countCode(read(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a.Upstream == nil || a.Upstream.Files == nil {
		return counted
	}
	dir := (&Project{api: a, dir: a.Dir}).download(t, a.Upstream.Module)
	for _, pattern := range a.Upstream.Files {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || files == nil {
			t.Fatalf("module %s has no file %s: %v", a.Upstream.Module, pattern, err)
		}
		for _, file := range files {
			counted.Upstream += countCode(read(t, file))
		}
	}
	return counted
}

// countCode counts the lines that contain more than a comment.
func countCode(content []byte) int {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(content))
	var tokens scanner.Scanner
	tokens.Init(file, content, func(token.Position, string) { /* other lines still count */ }, 0)
	count, last := 0, 0
	for {
		position, kind, text := tokens.Scan()
		if kind == token.EOF {
			return count
		}
		if kind == token.SEMICOLON && text == "\n" {
			continue // at the end of a line that counts already
		}
		first := file.Line(position)
		end := first + strings.Count(text, "\n")
		count += end - max(first-1, last)
		last = end
	}
}
