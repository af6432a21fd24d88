/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// runFolder begins the names of the folders of runs.
const runFolder = "hook-run-"

// marker is the environment variable by which the processes of a run are found.
func marker(folder string) string { return contextVariable + "=" + filepath.Join(folder, contextFile) }

// lock locks a folder until the process ends, or the file is closed.
func lock(folder string) (*os.File, error) {
	file, err := os.Open(folder) //nolint:gosec // of the process
	if err != nil {
		return nil, fmt.Errorf("opening the folder of a run: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("locking the folder of a run: %w", err), file.Close())
	}
	return file, nil
}

// removeAbandoned kills the programs of runs whose process was killed, and removes their folders.
func removeAbandoned(folder string) (err error) {
	runs, _ := filepath.Glob(filepath.Join(cmp.Or(folder, os.TempDir()), runFolder+"[0-9]*")) // it fails for a wrong pattern only
	for _, run := range runs {
		locked, failure := lock(run)
		if failure != nil {
			continue // its process runs
		}
		killEscaped(marker(run))
		err = errors.Join(err, removeAll(run), locked.Close())
	}
	return err
}

// removeAll removes a folder, also if the hook took permissions of folders in it away.
func removeAll(folder string) error {
	if os.RemoveAll(folder) == nil {
		return nil
	}
	// What fails is reported by the second attempt to remove the folder.
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // it is a folder
		}
		if err != nil {
			return fs.SkipDir
		}
		return nil
	})
	return os.RemoveAll(folder) //nolint:wrapcheck // it names the path
}
