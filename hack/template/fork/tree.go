/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
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
	files := make(tree)
	for path := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		whole := filepath.Join(template, path)
		info, err := os.Lstat(whole)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, in a test on a checkout with changes
		}
		if err != nil {
			return nil, fmt.Errorf("reading the template: %w", err)
		}
		f := file{mode: info.Mode()}
		if f.mode.Type() == fs.ModeSymlink {
			target, err := os.Readlink(whole)
			if err != nil {
				return nil, fmt.Errorf("reading the template: %w", err)
			}
			f.content = []byte(target)
		} else if f.content, err = os.ReadFile(whole); err != nil {
			return nil, err
		}
		files[path] = f
	}
	return files, nil
}

// remove deletes from other files those of this tree that are below a folder, or that a pattern of path.Match describes. It returns how many
// this tree has.
func (t tree) remove(pattern string, from tree) int {
	found := 0
	for path := range t {
		if matches(pattern, path) {
			delete(from, path)
			found++
		}
	}
	return found
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
