/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package disk

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// MinStart is the free space, in bytes, that a cluster needs to start: etcd reserves 128 MiB for its log at once.
	MinStart = 256 << 20
	// MinRun is the free space, in bytes, that a cluster needs to continue: the next piece of etcd's log takes 64 MiB.
	MinRun = 80 << 20

	watchInterval = time.Second
)

// FreeFunc returns how many bytes an ordinary user can still write to the file system that a folder is on.
type FreeFunc func(dir string) (uint64, error)

// Free is the FreeFunc that queries the operating system.
func Free(dir string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("reading the free space of %s: %w", dir, err)
	}
	//nolint:gosec,unconvert // The types differ between operating systems, and neither number is ever negative.
	return uint64(stat.Bavail) * uint64(stat.Bsize), nil
}

// LowError reports that there is too little free space.
type LowError struct {
	Dir        string
	Free, Need uint64 // bytes
}

// Error names the folder, what is free and what is needed.
func (e *LowError) Error() string {
	return fmt.Sprintf("the disk of %s is too full: %d MiB are free and %d MiB are needed", e.Dir, e.Free>>20, e.Need>>20)
}

// Check returns a *LowError if fewer than need bytes are free for the folder.
func Check(dir string, need uint64, free FreeFunc) error {
	got, err := free(dir)
	if err != nil {
		return err
	}
	if got < need {
		return &LowError{Dir: dir, Free: got, Need: need}
	}
	return nil
}

// Watch checks the folder every second and returns the first error, or nil when the context ends.
func Watch(ctx context.Context, dir string, need uint64, free FreeFunc) error {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := Check(dir, need, free); err != nil {
				return err
			}
		}
	}
}
