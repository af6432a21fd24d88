//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generated

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

// change replaces a text in a file, once.
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

// expectStale expects a script of hack/ to fail in a copy of the checkout, to report all of reported, and to change nothing there. It
// returns the report.
func expectStale(t *testing.T, checkout, script string, reported ...string) (report string) {
	t.Helper()
	before := snapshot(t, checkout)
	verify := exec.CommandContext(t.Context(), filepath.Join(checkout, "hack", script))
	verify.Dir = os.TempDir() // the script finds its way from anywhere
	output, err := verify.CombinedOutput()
	report = string(output)
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%s ended with %v, want exit status 1", script, err)
	}
	for _, want := range reported {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if t.Failed() {
		t.Logf("the report:\n%s", report)
	}
	if diff := cmp.Diff(before, snapshot(t, checkout)); diff != "" {
		t.Errorf("%s changed the checkout (-before +after): %s", script, diff)
	}
	return report
}

// snapshot returns the content of every file in a folder by its path, and of a symbolic link where it leads. The tools that scripts build are no part of it.
func snapshot(t *testing.T, folder string) map[string]string {
	t.Helper()
	contents := make(map[string]string)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if path == filepath.Join(folder, ".cache", "tools") {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() {
			return err
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			contents[path], err = os.Readlink(path)
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
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cp", "-R", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copying %s: %v\n%s", from, err, out)
	}
}
