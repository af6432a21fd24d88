/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// errTooLarge reports that the files of an image are larger than the limit for unpacking.
var errTooLarge = errors.New("its files are larger than what is unpacked of an image")

// untar writes the files of an archive below a folder, and nothing outside, whatever the archive says.
func untar(from io.Reader, dir string, owners bool, limit int64) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the root: %w", err)
	}
	defer func() { _ = root.Close() }()
	archive := tar.NewReader(from)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the layers: %w", err)
		}
		name := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		if name == "" {
			continue
		}
		if limit -= header.Size; limit < 0 {
			return fmt.Errorf("%s: %w", name, errTooLarge)
		}
		if err := extract(root, name, header, archive); err != nil {
			return fmt.Errorf("extracting %s: %w", name, err)
		}
		if err := attributes(root, name, header, owners); err != nil {
			return fmt.Errorf("extracting %s: %w", name, err)
		}
	}
}

func extract(root *os.Root, name string, header *tar.Header, content io.Reader) error {
	if parent := path.Dir(name); parent != "." {
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err //nolint:wrapcheck // wrapped by untar
		}
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755) //nolint:wrapcheck // wrapped by untar
	case tar.TypeSymlink:
		return root.Symlink(header.Linkname, name) //nolint:wrapcheck // wrapped by untar
	case tar.TypeLink:
		target := strings.TrimPrefix(path.Clean("/"+header.Linkname), "/")
		return root.Link(target, name) //nolint:wrapcheck // wrapped by untar
	case tar.TypeReg:
		return write(root, name, content)
	default:
		// Devices and pipes have no place in an image; the container's runtime makes those that programs need.
		return nil
	}
}

func write(root *os.Root, name string, content io.Reader) (err error) {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err //nolint:wrapcheck // wrapped by untar
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.Copy(file, content)
	return err //nolint:wrapcheck // wrapped by untar
}

// attributes gives a file its owner and then its mode, for a change of the owner takes bits off the mode.
func attributes(root *os.Root, name string, header *tar.Header, owners bool) error {
	if header.Typeflag != tar.TypeDir && header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeSymlink {
		return nil
	}
	if owners {
		if err := root.Lchown(name, header.Uid, header.Gid); err != nil {
			return err //nolint:wrapcheck // wrapped by untar
		}
	}
	if header.Typeflag == tar.TypeSymlink {
		return nil
	}
	mode := header.FileInfo().Mode().Perm()
	if owners {
		mode |= header.FileInfo().Mode() & (fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	} else if header.Typeflag == tar.TypeDir {
		// Who owns nothing has to be able to remove it again.
		mode |= 0o700
	}
	return root.Chmod(name, mode) //nolint:wrapcheck // wrapped by untar
}
