/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dirlock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestAcquire_Held_Fails(t *testing.T) {
	dir := t.TempDir()
	lock, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if lock.Stale {
		t.Error("the lock of a new folder is stale")
	}
	var held *HeldError
	if _, err := Acquire(dir); !errors.As(err, &held) || held.PID != os.Getpid() || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second lock: %v", err)
	}
	lock.Release()
	if _, err := os.Stat(filepath.Join(dir, FileName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file of a released lock: %v", err)
	}
	if lock, err = Acquire(dir); err != nil || lock.Stale {
		t.Errorf("after the release: %+v, %v", lock, err)
	}
	lock.Release()
}

func TestAcquire_StaleLock_Succeeds(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte("12345\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := Acquire(dir)
	if err != nil || !lock.Stale {
		t.Fatalf("%+v, %v", lock, err)
	}
	lock.Release()
}

// TestAcquire_Concurrently_IsHeldByOne lets many take and release one lock, which must never be held twice although each release removes the
// file that the others have open.
func TestAcquire_Concurrently_IsHeldByOne(t *testing.T) {
	dir := t.TempDir()
	var holder sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for taken := 0; taken < 50; {
				lock, err := Acquire(dir)
				if _, held := errors.AsType[*HeldError](err); held {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if !holder.TryLock() {
					t.Error("held twice")
					return
				}
				holder.Unlock()
				lock.Release()
				taken++
			}
		})
	}
	all.Wait()
}

func TestAcquire_FolderThatCannotBeLocked_ReturnsError(t *testing.T) {
	if _, err := Acquire(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
}
