/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generated

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// change replaces what stands in a file, once.
func change(t *testing.T, path, from, to string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), from) {
		t.Fatalf("%s does not hold %q", path, from)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(content), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// snapshot returns the content of every file in a folder by its path.
func snapshot(t *testing.T, folder string) map[string]string {
	t.Helper()
	contents := make(map[string]string)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		contents[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return contents
}

// copyAll copies as cp -R does: symbolic links, as those of the images' data, stay what they are.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", "-R", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copying %s: %v\n%s", from, err, out)
	}
}
