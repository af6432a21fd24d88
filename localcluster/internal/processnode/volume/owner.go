/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// openMode permits all users to write.
	openMode = 0o777
	// groupFile and groupFolder are the permissions that a Pod's fsGroup always has, as with a kubelet.
	groupFile, groupFolder = 0o440, 0o550
)

// open permits all users to write into a folder. New files in it belong to the Pod's fsGroup.
func (v *Volumes) open(dir string) error {
	mode := fs.FileMode(openMode)
	if group, ok := v.group(); ok {
		if err := os.Lchown(dir, -1, group); err != nil {
			return fmt.Errorf("giving it to the group %d: %w", group, err)
		}
		mode |= fs.ModeSetgid
	}
	if err := os.Chmod(dir, mode); err != nil {
		return fmt.Errorf("opening it to the containers: %w", err)
	}
	return nil
}

// own gives the files below a folder to the Pod's fsGroup, which may read them whatever their mode is.
func (v *Volumes) own(dir string) error {
	group, ok := v.group()
	if !ok {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening its files: %w", err)
	}
	defer func() { _ = root.Close() }()
	//nolint:wrapcheck // what fails in it says what it was
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := root.Lchown(path, -1, group); err != nil {
			return fmt.Errorf("giving it to the group %d: %w", group, err)
		}
		info, err := entry.Info()
		if err != nil {
			return fmt.Errorf("looking at its mode: %w", err)
		}
		switch {
		case entry.IsDir():
			err = root.Chmod(path, info.Mode()|groupFolder|fs.ModeSetgid)
		case info.Mode().IsRegular():
			err = root.Chmod(path, info.Mode()|groupFile)
		}
		if err != nil {
			return fmt.Errorf("opening it to the group %d: %w", group, err)
		}
		return nil
	})
}

// group returns the Pod's fsGroup, if it has one and files can be given away.
func (v *Volumes) group() (int, bool) {
	if !v.Owners || v.Pod.Spec.SecurityContext == nil || v.Pod.Spec.SecurityContext.FSGroup == nil {
		return 0, false
	}
	return int(*v.Pod.Spec.SecurityContext.FSGroup), true
}

// discard removes what a write has left that did not succeed: on a full disk it would take the space that the next one needs.
func discard(dir string) error {
	current, err := os.Readlink(filepath.Join(dir, "..data"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for unfinished files: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking for unfinished files: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), "..") || entry.Name() == current {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("removing unfinished files: %w", err)
		}
	}
	return nil
}
