/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package disk

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func TestFree_Folder_ReturnsBytes(t *testing.T) {
	dir := t.TempDir()
	if free, err := Free(dir); err != nil || free == 0 {
		t.Errorf("%d bytes, %v", free, err)
	}
	missing := filepath.Join(dir, "missing")
	if _, err := Free(missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("of a folder that does not exist: %v", err)
	}
}

func TestCheck_TooLittleSpace_ReturnsError(t *testing.T) {
	for _, c := range []struct {
		free uint64
		want string
	}{
		{MinStart, ""},
		{MinStart - 1, "255 MiB are free and 256 MiB are needed"},
		{0, "0 MiB are free"},
	} {
		err := Check("/some/folder", MinStart, func(string) (uint64, error) { return c.free, nil })
		var low *LowError
		switch {
		case c.want == "" && err == nil:
		case !errors.As(err, &low) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "/some/folder"):
			t.Errorf("with %d bytes: %v", c.free, err)
		}
	}
	broken := errors.New("broken")
	if err := Check("/", 1, func(string) (uint64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("the error of the free space is lost: %v", err)
	}
}

func TestWatch_SpaceRunsOut_Reports(t *testing.T) {
	var calls atomic.Int32
	free := func(string) (uint64, error) {
		if calls.Add(1) == 1 {
			return MinRun, nil
		}
		return 1, nil
	}
	var low *LowError
	if err := Watch(t.Context(), "/", MinRun, free); !errors.As(err, &low) || calls.Load() != 2 {
		t.Errorf("after %d looks: %v", calls.Load(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Watch(ctx, "/", MinRun, func(string) (uint64, error) { return MinRun, nil }); err != nil {
		t.Errorf("after the end of the context: %v", err)
	}
}
