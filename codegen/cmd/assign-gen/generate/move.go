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
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mallard-dev/mallard/codegen/cmd/assign-gen/generators"
)

// move holds new files until all of them are there, and then puts them where they belong.
type move struct {
	scratch string
	// folders are the scratch folders, by the folder that their files belong to.
	folders map[string]string
}

func newMove(scratch string) *move { return &move{scratch: scratch, folders: make(map[string]string)} }

// scratchFor returns the folder to write files to that belong to dir.
func (m *move) scratchFor(dir string) string {
	if m.folders[dir] == "" {
		m.folders[dir] = filepath.Join(m.scratch, strconv.Itoa(len(m.folders)))
	}
	return m.folders[dir]
}

// add writes a file that gengo does not write.
func (m *move) add(file, content string) error {
	folder := m.scratchFor(filepath.Dir(file))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making a scratch folder: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, filepath.Base(file)), []byte(content), 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(file), err)
	}
	return nil
}

// do moves all files and then removes those of an earlier run that have no successor. A file that stays the same keeps
// its time, so that nothing is built again for it.
func (m *move) do(folders []string) error {
	kept := make(map[string]bool)
	for folder, scratch := range m.folders {
		entries, err := os.ReadDir(scratch)
		if err != nil {
			return fmt.Errorf("listing what was generated: %w", err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("making a package's folder: %w", err)
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
	names := []string{
		generators.EdgeFile, generators.TypesFile, generators.HorizontalFile, generators.HubFile, generators.TestFile, generators.RoundTripFile,
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		file := filepath.Join(folder, name)
		if kept[file] {
			continue
		}
		content, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return fmt.Errorf("looking for what an earlier run left: %w", err)
		case !bytes.Contains(content, []byte(generators.GeneratedBy)):
			continue // somebody else's
		}
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing what an earlier run left: %w", err)
		}
	}
	return nil
}
