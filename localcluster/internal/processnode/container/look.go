/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package container

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// defaultPath lists the folders in which a command without a slash is searched if the environment sets no PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// ErrNotFound reports that the root folder has no such program.
var ErrNotFound = errors.New("executable file not found in $PATH")

// Look finds a program in a root folder and returns its path there. Errors are those that a cluster's runtime gives.
func Look(rootDir, command string, env []string) (string, error) {
	root, err := os.OpenRoot(rootDir)
	if err != nil {
		return "", fmt.Errorf("opening the root folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	if strings.Contains(command, "/") {
		clean := path.Clean("/" + command)
		if _, err := root.Lstat(strings.TrimPrefix(clean, "/")); err != nil {
			return "", fmt.Errorf("exec: %q: stat %s: %w", command, command, fs.ErrNotExist)
		}
		return clean, nil
	}
	search := defaultPath
	for _, variable := range env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			search = value
		}
	}
	for _, folder := range filepath.SplitList(search) {
		candidate := path.Join("/", folder, command)
		info, err := root.Stat(strings.TrimPrefix(candidate, "/"))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("exec: %q: %w", command, ErrNotFound)
}
