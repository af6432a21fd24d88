/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/internal/disk"
	"github.com/mallard-dev/mallard/localcluster/internal/stdio"
)

// TestRun_DiskFull_StopsWithAnError runs on a disk whose free space is made up: too little to start at first, then enough until the cluster is
// ready. It is the only test here that runs a cluster, since that changes the process.
func TestRun_DiskFull_StopsWithAnError(t *testing.T) {
	kept, err := stdio.Keep()
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(before) // restores it at the end
	dir := t.TempDir()
	var free atomic.Uint64
	opts := Options{
		Dir: dir, Stderr: kept, Stdout: writerFunc(func() { free.Store(disk.MinRun - 1) }),
		Free: func(string) (uint64, error) { return free.Load(), nil },
	}
	for name, bytes := range map[string]uint64{"at the start": disk.MinStart - 1, "while it runs": disk.MinStart} {
		free.Store(bytes)
		err := Run(t.Context(), opts)
		var low *disk.LowError
		if !errors.As(err, &low) || !strings.Contains(err.Error(), "free some space") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "lock")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the lock still exists (%v)", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, kubeconfigName)); err != nil {
		t.Errorf("the cluster never was ready: %v", err)
	}
}

// writerFunc is called for whatever is written.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
