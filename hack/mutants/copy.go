/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// copied is a copy of a checkout.
type copied struct{ from, folder string }

// copyOf copies what git knows of a checkout or would add, as it is in the folder.
func copyOf(ctx context.Context, checkout, folder string) (*copied, error) {
	command := exec.CommandContext(ctx, "git", "-C", checkout, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	listing, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", checkout, err)
	}
	c := &copied{from: checkout, folder: folder}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(listing), "\x00"), "\x00") {
		if err := c.copyFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // as one that was deleted
			return nil, err
		}
	}
	return c, nil
}

func (c *copied) copyFile(path string) error {
	from, to := filepath.Join(c.from, path), filepath.Join(c.folder, path)
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("copying the checkout: %w", err)
	}
	if info.IsDir() {
		return nil // a link to a folder
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copying the checkout: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("copying the checkout: %w", err)
	}
	if err := os.WriteFile(to, content, info.Mode().Perm()); err != nil { //nolint:gosec // paths are those that git lists
		return fmt.Errorf("copying the checkout: %w", err)
	}
	return nil
}

// files are those of some folders.
func (c *copied) files(folders []string) (map[string]string, error) {
	all := make(map[string]string)
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(c.folder, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(path) //nolint:gosec // nobody else changes the copy
			all[path] = string(content)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", folder, err)
		}
	}
	return all, nil
}

// restore makes folders hold these files again, and no others.
func (c *copied) restore(folders []string, before map[string]string) error {
	now, err := c.files(folders)
	if err != nil {
		return err
	}
	for path := range now {
		if _, known := before[path]; !known {
			err = errors.Join(err, os.Remove(path))
		}
	}
	for path, content := range before {
		if now[path] != content {
			err = errors.Join(err, os.WriteFile(path, []byte(content), 0o644))
		}
	}
	if err != nil {
		return fmt.Errorf("undoing what was generated: %w", err)
	}
	return nil
}

// run runs a command in the copy and returns what it wrote.
func (c *copied) run(ctx context.Context, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = c.folder
	// A mistake that only one random object in thousands shows is none of ours.
	command.Env = append([]string{"MALLARD_TEST_INPUTS=200"}, os.Environ()...)
	output, err := command.CombinedOutput()
	if err != nil {
		return string(output), fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err)
	}
	return string(output), nil
}
