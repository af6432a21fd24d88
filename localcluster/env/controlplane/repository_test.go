//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// goCache is one cache for Go of the tests that do not look at how much is compiled: the standard library takes a while.
var goCache = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "gocache") })

// smallRepository makes a repository and enters it, with a separate cache for us.
func smallRepository(t *testing.T) (module string) {
	t.Helper()
	dir, err := goCache()
	if err != nil {
		t.Fatal(err)
	}
	return smallRepositoryWith(t, dir)
}

// emptyRepository is smallRepository with a separate cache for Go, too, so that everything is compiled.
func emptyRepository(t *testing.T) (module string) {
	t.Helper()
	return smallRepositoryWith(t, t.TempDir())
}

func smallRepositoryWith(t *testing.T, goCache string) (module string) {
	t.Helper()
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	module = filepath.Join(root, "localcluster")
	sub := filepath.Join(root, "some", "package")
	if err := errors.Join(os.MkdirAll(module, 0o755), os.MkdirAll(sub, 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"go.mod": smallMod, "go.sum": string(sums), "main.go": smallMain} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Where Go keeps modules follows from the same variables, and these tests are not to download any.
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOMODCACHE", strings.TrimSpace(string(modules)))
	t.Setenv("GOCACHE", goCache)
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	if runtime.GOOS == "darwin" {
		t.Setenv("HOME", cache)
	}
	t.Chdir(sub)
	return module
}

// watched is a writer whose lines a test can wait for.
type watched struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	seen func(text string)
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen != nil {
		w.seen(string(p))
	}
	return w.buf.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

var counted = regexp.MustCompile(`\[ *(\d+)/(\d+)\]`)

// assertCounted checks that the count ends with the total.
func assertCounted(t *testing.T, text string) {
	t.Helper()
	counts := counted.FindAllStringSubmatch(text, -1)
	if len(counts) == 0 {
		t.Fatalf("no count:\n%s", text)
	}
	if last := counts[len(counts)-1]; last[1] != last[2] {
		t.Errorf("it ends with %s of %s packages:\n%s", last[1], last[2], text)
	}
	for _, phase := range []string{"finding out", "linking localcluster", "is built, in "} {
		if !strings.Contains(text, phase) {
			t.Errorf("it does not say %q:\n%s", phase, text)
		}
	}
}

// assertNothingLeft checks that the cache holds finished programs and the lock only.
func assertNothingLeft(t *testing.T) {
	t.Helper()
	cache, err := openCache()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(cache.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name == "build.lock" {
			continue
		} else if _, err := os.Stat(filepath.Join(cache.dir, name, binaryName)); err != nil {
			t.Errorf("left behind: %s", name)
		}
	}
}

// assertNoProcess checks that no process has a variable in its environment. Where it cannot see environments, the
// interrupted build has shown all the same that it waits for its process group.
func assertNoProcess(t *testing.T, variable string) {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range environments {
		if filepath.Base(filepath.Dir(path)) == strconv.Itoa(os.Getpid()) {
			continue
		}
		if environment, err := os.ReadFile(path); err == nil && bytes.Contains(environment, []byte(variable)) {
			t.Errorf("still running: %s", filepath.Dir(path))
		}
	}
}
