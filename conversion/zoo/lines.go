/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"context"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// lines are hand-written lines of Go, without blank lines and comments.
type lines struct {
	// Code are those of hooks and conversion functions, and Tests those that make random values.
	Code, Tests int
	// Upstream are those of the other project's conversions.
	Upstream int
}

// countLines counts the hand-written lines of an API.
func (a *API) countLines(ctx context.Context) (lines, error) {
	var counted lines
	err := filepath.WalkDir(a.Dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && a.Upstream != nil && path == filepath.Join(a.Dir, a.Upstream.Program):
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		case strings.HasSuffix(path, "_test.go"):
			return addLines(&counted.Tests, path)
		default:
			return addLines(&counted.Code, path)
		}
	})
	if err != nil || a.Upstream == nil || a.Upstream.Files == nil {
		return counted, err
	}
	files, err := a.upstreamFiles(ctx)
	if err != nil {
		return counted, err
	}
	for _, file := range files {
		if err := addLines(&counted.Upstream, file); err != nil {
			return counted, err
		}
	}
	return counted, nil
}

// upstreamFiles are the files with the conversions of the other project.
func (a *API) upstreamFiles(ctx context.Context) ([]string, error) {
	dir, err := (&Project{api: a, dir: a.Dir}).download(ctx, a.Upstream.Module)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, pattern := range a.Upstream.Files {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("conversions of the other project: %w", err)
		}
		if files == nil {
			return nil, fmt.Errorf("module %s has no file %s", a.Upstream.Module, pattern)
		}
		all = append(all, files...)
	}
	return all, nil
}

// addLines adds the lines of a file that contain more than a comment.
func addLines(sum *int, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	*sum += countCode(content)
	return nil
}

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
