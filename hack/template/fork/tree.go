/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/hack/template/command"
)

// validateFolder makes sure that the fork does not replace anything.
func (a Arguments) validateFolder() error {
	if a.To == "" {
		return errors.New("TO is not set: it names the folder of the fork, such as ../pond")
	}
	path, err := a.folder()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("TO=%s must be a folder that is empty or does not exist: %w", a.To, err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("TO=%s must be a folder that is empty or does not exist; it has %s", a.To, entries[0].Name())
	}
	working, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("TO=%s: %w", a.To, err)
	}
	if strings.HasPrefix(path+"/", working+"/") {
		return fmt.Errorf("TO=%s must be outside of the template's checkout, such as ../pond", a.To)
	}
	return nil
}

// tree holds the content of files by their slash-separated path.
type tree map[string]file

// file is a regular file or, if its mode says so, a symbolic link to the path in its content.
type file struct {
	content []byte
	mode    fs.FileMode
}

// committed returns the files of the checkout's commit.
func committed(ctx context.Context, template string) (tree, error) {
	archive, err := command.Output(ctx, template, "git", "archive", "--format=tar", "HEAD")
	if err != nil {
		return nil, err
	}
	files := make(tree)
	for reader := tar.NewReader(strings.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the template's files: %w", err)
		}
		if header.Typeflag == tar.TypeSymlink {
			files[header.Name] = file{[]byte(header.Linkname), fs.ModeSymlink}
			continue
		}
		if header.Typeflag != tar.TypeReg {
			continue // a folder, or the commit
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			return nil, fmt.Errorf("reading the template's file %s: %w", header.Name, err)
		}
		files[header.Name] = file{content, header.FileInfo().Mode().Perm()}
	}
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
	for path, file := range t {
		whole := filepath.Join(root, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(whole), 0o755); err != nil {
			return fmt.Errorf("writing the fork: %w", err)
		}
		var err error
		if file.mode == fs.ModeSymlink {
			err = os.Symlink(string(file.content), whole)
		} else {
			err = os.WriteFile(whole, file.content, file.mode)
		}
		if err != nil {
			return fmt.Errorf("writing the fork: %w", err)
		}
	}
	return nil
}

// modules returns the folders of the Go modules, sorted. Those in testdata are no part of the project.
func (t tree) modules() []string {
	var folders []string
	for file := range t {
		if slashpath.Base(file) == "go.mod" && !strings.Contains(file, "testdata/") {
			folders = append(folders, slashpath.Dir(file))
		}
	}
	slices.Sort(folders)
	return folders
}
