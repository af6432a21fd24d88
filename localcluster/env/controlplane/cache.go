/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	binaryName  = "localcluster"
	entryPrefix = "localcluster-"
	workPrefix  = "build-"

	// keepUnused is the time for which an unused program is kept: as long as a developer may be away from a branch.
	keepUnused = 14 * 24 * time.Hour

	lockPoll = 100 * time.Millisecond
)

// cache is the folder that holds the built programs, each in a folder named after the hash of what it is made of.
type cache struct{ dir string }

func openCache() (*cache, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("looking for the user's cache folder: %w", err)
	}
	c := &cache{dir: filepath.Join(user, "mallard")}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the cache folder: %w", err)
	}
	return c, nil
}

func (c *cache) binary(hash string) string { return filepath.Join(c.dir, entryPrefix+hash, binaryName) }

// lookup returns the program's path and notes that it is in use, or reports that there is no program.
func (c *cache) lookup(hash string) (path string, found bool) {
	path = c.binary(hash)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return path, false
	}
	now := time.Now()
	// Only prune reads the time, and a program that it removes is built again.
	_ = os.Chtimes(filepath.Dir(path), now, now)
	return path, true
}

// store moves a built program to where lookup finds it.
func (c *cache) store(hash, built string) (string, error) {
	path := c.binary(hash)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("keeping the built program: %w", err)
	}
	if err := os.Rename(built, path); err != nil {
		return "", fmt.Errorf("keeping the built program: %w", err)
	}
	return path, nil
}

// prune removes the programs that have not been used for long, and what builds left that were killed. It is called with
// the lock held, so that no build is under way.
func (c *cache) prune(keep string) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue
		}
		name := entry.Name()
		unused := strings.HasPrefix(name, entryPrefix) && name != entryPrefix+keep && time.Since(info.ModTime()) > keepUnused
		if entry.IsDir() && (unused || strings.HasPrefix(name, workPrefix)) {
			_ = os.RemoveAll(filepath.Join(c.dir, name))
		}
	}
}

// lock makes sure that one program is built at a time, for a second build would only make the first one slower. Waiting
// is announced with the other's process id. The lock ends with the process that holds it; its file stays.
func (c *cache) lock(ctx context.Context, waiting func(pid string)) (unlock func(), err error) {
	lock := flock.New(filepath.Join(c.dir, "build.lock"))
	locked, err := lock.TryLock()
	if err == nil && !locked {
		pid, _ := os.ReadFile(lock.Path())
		waiting(string(pid))
		_, err = lock.TryLockContext(ctx, lockPoll)
	}
	if err != nil {
		return nil, fmt.Errorf("locking the build: %w", cmp.Or(context.Cause(ctx), err))
	}
	// The number is only for people; a file without it locks as well.
	_ = os.WriteFile(lock.Path(), []byte(strconv.Itoa(os.Getpid())), 0o644)
	return func() { _ = lock.Unlock() }, nil
}
