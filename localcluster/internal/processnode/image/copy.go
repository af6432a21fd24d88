/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package image

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CopyRoot makes a container's root folder out of an image's: a new folder with the same files, owners and modes.
func (s *Store) CopyRoot(image *Image, to string) error {
	err := filepath.WalkDir(image.Root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(image.Root, path)
		if err != nil {
			return err //nolint:wrapcheck // cannot be: path is below the root
		}
		info, err := entry.Info()
		if err != nil {
			return err //nolint:wrapcheck // wrapped below
		}
		return s.copyOne(path, filepath.Join(to, relative), info)
	})
	if err != nil {
		return fmt.Errorf("making the root folder: %w", err)
	}
	return nil
}

func (s *Store) copyOne(from, to string, info fs.FileInfo) error {
	var err error
	switch {
	case info.IsDir():
		err = os.Mkdir(to, 0o700)
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		if target, err = os.Readlink(from); err == nil {
			err = os.Symlink(target, to)
		}
	default:
		err = copyFile(from, to)
	}
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && s.owners {
		if err := os.Lchown(to, int(stat.Uid), int(stat.Gid)); err != nil {
			return err //nolint:wrapcheck // wrapped by CopyRoot
		}
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil
	}
	return os.Chmod(to, info.Mode()) //nolint:wrapcheck // wrapped by CopyRoot
}

func copyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err //nolint:wrapcheck // wrapped by CopyRoot
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	// The kernel copies, or shares the blocks where the file system can.
	_, err = io.Copy(target, source)
	return err //nolint:wrapcheck // wrapped by CopyRoot
}
