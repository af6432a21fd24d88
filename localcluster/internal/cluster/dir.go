/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/mallard-dev/mallard/localcluster/internal/dirlock"
)

// tempPrefix starts the names of temporary folders, by which a later start recognizes those that were left behind.
const tempPrefix = "localcluster-"

// tempMinAge is the minimum age of the lock of a temporary folder that counts as left behind: a younger one
// may belong to a cluster that is just about to take it.
const tempMinAge = time.Minute

// folder is the cluster's folder while the cluster has it.
type folder struct {
	path string
	temp bool
	lock *dirlock.Lock
}

// openFolder takes the folder named by --dir, or a new temporary one when that is empty.
func openFolder(dir string) (*folder, error) {
	f := &folder{temp: dir == ""}
	if f.temp {
		removeLeftTemps()
		path, err := os.MkdirTemp("", tempPrefix)
		if err != nil {
			return nil, fmt.Errorf("making a temporary folder: %w: name another place with --dir or TMPDIR", err)
		}
		f.path = path
	} else if err := f.prepare(dir); err != nil {
		return nil, err
	}
	lock, err := dirlock.Acquire(f.path)
	var held *dirlock.HeldError
	switch {
	case errors.As(err, &held):
		return nil, fmt.Errorf("--dir %w: stop that one first, or choose another folder", err)
	case err != nil:
		f.removeTemp()
		return nil, fmt.Errorf("--dir %s: %w", f.path, err)
	}
	f.lock = lock
	return f, nil
}

func (f *folder) prepare(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("--dir %s: %w", dir, err)
	}
	f.path = path
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("--dir %s is not a folder: name a folder, or a path where one can be made", path)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("--dir %s cannot be made: %w: name a folder that can be written to", path, cause(err))
	}
	probe, err := os.CreateTemp(path, ".writable-")
	if err != nil {
		return fmt.Errorf("--dir %s cannot be written to: %w: change its permissions or name another folder", path, cause(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// cause takes the operation and the path off an error of the file system, for a message that names the path already.
func cause(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

// release gives the folder back, and removes it if it is a temporary one.
func (f *folder) release() {
	f.removeTemp()
	f.lock.Release()
}

func (f *folder) removeTemp() {
	if !f.temp {
		return
	}
	// A part that did not stop in time may still be making files, so that one attempt can leave some.
	for range 10 {
		if os.RemoveAll(f.path) == nil {
			return
		}
	}
}

// removeLeftTemps removes the temporary folders of clusters that were killed: each has 130 MiB and more, and no other program would find them. Errors
// are left for the next start.
func removeLeftTemps() {
	locks, err := filepath.Glob(filepath.Join(os.TempDir(), tempPrefix+"*", dirlock.FileName))
	if err != nil {
		return
	}
	for _, path := range locks {
		info, err := os.Stat(path)
		if err != nil || time.Since(info.ModTime()) < tempMinAge {
			continue
		}
		dir := filepath.Dir(path)
		if lock, err := dirlock.Acquire(dir); err == nil {
			_ = os.RemoveAll(dir)
			lock.Release()
		}
	}
}
