/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
)

// move holds new files until all of them are there, and then puts them where they belong.
type move struct {
	// scratch are the scratch folders, by the folder that their files belong to.
	scratch map[string]string
	// made are the folders that were not there before.
	made []string
}

// newMove makes a scratch folder in each of the folders that files belong to, so that one that cannot be written to is found
// before anything was written, and files can be renamed. Folders whose names begin with a dot are no packages to the go
// command. Clean has to be called whether there is an error or not.
func newMove(folders []string) (*move, error) {
	m := &move{scratch: make(map[string]string)}
	for _, folder := range folders {
		if m.scratch[folder] != "" {
			continue
		}
		if err := m.makeFolder(folder); err != nil {
			return m, err
		}
		scratch, err := os.MkdirTemp(folder, ".assign-gen.")
		if err != nil {
			return m, fmt.Errorf("making a scratch folder: %w", err)
		}
		m.scratch[folder] = scratch
	}
	return m, nil
}

// makeFolder makes a folder and those above it, and remembers which of them are new.
func (m *move) makeFolder(folder string) error {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		if err := m.makeFolder(filepath.Dir(folder)); err != nil {
			return err
		}
		m.made = append(m.made, folder)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making a folder for what is generated: %w", err)
	}
	return nil
}

// clean removes the scratch folders, and new folders in which there is nothing.
func (m *move) clean() error {
	var all []error
	for _, scratch := range m.scratch {
		all = append(all, os.RemoveAll(scratch))
	}
	for _, folder := range slices.Backward(m.made) {
		entries, err := os.ReadDir(folder)
		if err == nil && len(entries) == 0 {
			err = os.Remove(folder)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	if err := errors.Join(all...); err != nil {
		return fmt.Errorf("removing scratch folders: %w", err)
	}
	return nil
}

// scratchFor returns the folder to write files to that belong to dir.
func (m *move) scratchFor(dir string) string { return m.scratch[dir] }

// add writes a file that gengo does not write.
func (m *move) add(file, content string) error {
	if err := os.WriteFile(filepath.Join(m.scratchFor(filepath.Dir(file)), filepath.Base(file)), []byte(content), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(file), err)
	}
	return nil
}

// do moves all files and then removes those of an earlier run that have no successor. A file that stays the same keeps
// its time, so that nothing is built again for it.
func (m *move) do(folders []string) error {
	kept := make(map[string]bool)
	for folder, scratch := range m.scratch {
		entries, err := os.ReadDir(scratch)
		if err != nil {
			return fmt.Errorf("listing what was generated: %w", err)
		}
		for _, entry := range entries {
			file := filepath.Join(folder, entry.Name())
			kept[file] = true
			if err := replace(file, filepath.Join(scratch, entry.Name())); err != nil {
				return err
			}
		}
	}
	for _, folder := range folders {
		if err := removeStale(folder, kept); err != nil {
			return err
		}
	}
	return nil
}

func replace(file, by string) error {
	content, err := os.ReadFile(by)
	if err != nil {
		return fmt.Errorf("reading what was generated: %w", err)
	}
	if earlier, err := os.ReadFile(file); err == nil && bytes.Equal(earlier, content) {
		return nil
	}
	if err := os.Rename(by, file); err != nil {
		return fmt.Errorf("putting %s in place: %w", file, err)
	}
	return nil
}

// removeStale removes files that this generator wrote in an earlier run and does not write any more.
func removeStale(folder string, kept map[string]bool) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("looking for what an earlier run left: %w", err)
	}
	for _, entry := range entries {
		file := filepath.Join(folder, entry.Name())
		if generated, err := path.Match("zz_generated.*.go", entry.Name()); !generated || err != nil || kept[file] {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("looking for what an earlier run left: %w", err)
		}
		if !bytes.Contains(content, []byte(generators.GeneratedBy)) {
			continue // another generator's, or a file that somebody wrote
		}
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing what an earlier run left: %w", err)
		}
	}
	return nil
}
