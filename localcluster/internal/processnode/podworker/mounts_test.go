/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMounts_SubPaths_StayInsideTheVolume checks that a part of a volume is made as open as the volume, and is never outside of it.
func TestMounts_SubPaths_StayInsideTheVolume(t *testing.T) {
	volume, outside := t.TempDir(), t.TempDir()
	const mode = os.ModeDir | os.ModeSetgid | 0o777
	if err := os.Chmod(volume, mode); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"inner": "made", "outer": outside, "up": "../" + filepath.Base(outside)} {
		if err := os.Symlink(target, filepath.Join(volume, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, below := range []string{"made", "a/b/c", "../../d", "inner"} {
		found, err := within(volume, below)
		if err != nil || !strings.HasPrefix(found, volume+"/") {
			t.Fatalf("%s is %q: %v", below, found, err)
		}
		for path := found; path != volume; path = filepath.Dir(path) {
			if info, err := os.Stat(path); err != nil || info.Mode() != mode {
				t.Errorf("%s is made as %v: %v", path, info, err)
			}
		}
	}
	for _, below := range []string{"outer", "outer/new", "up", "up/new"} {
		if found, err := within(volume, below); err == nil {
			t.Errorf("%s leads to %s", below, found)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("outside there is %v (%v)", left, err)
	}
}
