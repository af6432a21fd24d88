/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"context"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	slashpath "path"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/mallard-dev/mallard/hack/template/command"
)

// validateFolder makes sure that the fork does not replace anything.
func (a Arguments) validateFolder() error {
	if a.To == "" {
		return errors.New("TO is not set: it names the folder of the fork, such as ../pond")
	}
	entries, err := os.ReadDir(a.To)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("TO=%s must be a folder that is empty or does not exist: %w", a.To, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("TO=%s must be a folder that is empty or does not exist; it has %s", a.To, entries[0].Name())
	}
	working, err := os.Getwd()
	if err == nil && strings.HasPrefix(a.To+"/", working+"/") {
		err = fmt.Errorf("TO=%s must be outside of the template's checkout, such as ../pond", a.To)
	}
	return err
}

// tree holds the content of files by their slash-separated path.
type tree map[string]file

// file is a regular file or, if its mode says so, a symbolic link to the path in its content.
type file struct {
	content []byte
	mode    fs.FileMode
}

// committed returns the files of the checkout, which has no changes.
func committed(ctx context.Context, template string) (tree, error) {
	listed, err := command.Output(ctx, template, "git", "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	files, root := make(tree), os.DirFS(template)
	for path := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		info, err := fs.Lstat(root, path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, in a test on a checkout with changes
		}
		var content []byte
		if err == nil && info.Mode().Type() == fs.ModeSymlink {
			var target string
			target, err = fs.ReadLink(root, path)
			content = []byte(target)
		} else if err == nil {
			content, err = fs.ReadFile(root, path)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the template: %w", err)
		}
		files[path] = file{content, info.Mode()}
	}
	return files, nil
}

// find returns the paths of the files that a pattern of path.Match describes, or that are in a folder which it describes.
func (t tree) find(pattern string) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(t)), func(path string) bool { return !matches(pattern, path) })
}

// matches reports whether a pattern describes a path, or a folder that it is in.
func matches(pattern, path string) bool {
	for ; path != "."; path = slashpath.Dir(path) {
		if ok, err := slashpath.Match(pattern, path); ok || err != nil {
			return ok
		}
	}
	return false
}

func (t tree) write(root string) error {
	files := make(fstest.MapFS)
	for path, f := range t {
		files[path] = &fstest.MapFile{Data: f.content, Mode: f.mode}
	}
	return os.CopyFS(root, files)
}

// format formats Go files, in which new names change the order of imports and the alignment.
func (t tree) format() error {
	for path, f := range t {
		if !strings.HasSuffix(path, ".go") || !f.mode.IsRegular() {
			continue
		}
		formatted, err := format.Source(f.content)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		t[path] = file{formatted, f.mode}
	}
	return nil
}
