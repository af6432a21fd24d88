/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository's folder, relative to this one, in which go test runs the tests.
const root = "../.."

// output runs a command in the repository's folder and returns what it printed.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, stderr.String())
	}
	return string(stdout)
}

// files returns the paths of the files that git has, or would add, and that exist.
func files(t *testing.T, patterns ...string) []string {
	t.Helper()
	args := append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, patterns...)
	var paths []string
	seen := make(map[string]bool)
	for path := range strings.SplitSeq(output(t, "git", args...), "\x00") {
		if path == "" || seen[path] {
			continue
		}
		seen[path] = true
		if info, err := os.Lstat(filepath.Join(root, path)); err == nil && info.Mode().IsRegular() {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		t.Fatalf("git knows no file that matches %v", patterns)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal("reading a file of the repository:", err)
	}
	return string(content)
}
