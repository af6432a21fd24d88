/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/test/moduleproxy"
)

const (
	root = "../.."
	// These bound the hand-written code of a fork, without tests and test/: its own, and that of the libraries, which it keeps as they are.
	mostOwn, mostOfRuntime, mostOfObserve = 3000, 3500, 3170
	// commandTimeout bounds each command, of which the longest runs the tests.
	commandTimeout = 30 * time.Minute
)

// A fork that keeps one kind of one version generates its code, builds, and passes its checks and tests.
func TestFork_ReducedToOneKind_IsComplete(t *testing.T) {
	copied := t.TempDir()
	version, environment := moduleproxy.New(t, root, "conversion", "localcluster", "localcluster/env")
	fork := fork{dir: copied, environment: environment}
	fork.run(t, "git", "clone", "--quiet", "--local", repository(t), ".")
	// As the checkout is, committed or not.
	for _, path := range changed(t) {
		fork.copy(t, path)
	}
	fork.run(t, "test/fork/reduce.sh", version)
	// Until they are generated again, the clients import packages that are deleted.
	fork.run(t, "go", "mod", "tidy", "-e")
	fork.run(t, "make", "generate")
	fork.run(t, "go", "mod", "tidy")
	fork.commit(t)
	fork.expectFewLines(t)
	fork.run(t, "make", "build")
	fork.run(t, "make", "verify")
	fork.run(t, "make", "test")
}

// fork is a copy of the checkout.
type fork struct {
	dir         string
	environment []string
}

func (f fork) run(t *testing.T, name string, args ...string) {
	t.Helper()
	started := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = f.dir, append(os.Environ(), f.environment...), time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(append([]string{name}, args...), " "), err, out)
	}
	t.Logf("%s: %s", strings.Join(append([]string{name}, args...), " "), time.Since(started).Round(time.Second))
}

// copy takes a file over as it is in the checkout, where it may be deleted.
func (f fork) copy(t *testing.T, path string) {
	t.Helper()
	from, to := filepath.Join(root, path), filepath.Join(f.dir, path)
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.RemoveAll(to)
	} else if err == nil {
		var content []byte
		content, err = os.ReadFile(from)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o750), os.WriteFile(to, content, info.Mode()), os.Chmod(to, info.Mode()))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (f fork) commit(t *testing.T) {
	t.Helper()
	f.run(t, "git", "add", "--all")
	f.run(t, "git", "-c", "user.name=fork", "-c", "user.email=fork@example.com", "commit", "--quiet", "--message", "Reduce to one kind")
}

// expectFewLines counts the lines of hand-written Go.
func (f fork) expectFewLines(t *testing.T) {
	t.Helper()
	own, files, ofRuntime, ofObserve := 0, 0, 0, 0
	for path := range strings.FieldsSeq(output(t, f.dir, "ls-files", "*.go")) {
		content, err := os.ReadFile(filepath.Join(f.dir, path))
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(content, []byte("\n"))
		switch {
		case strings.HasSuffix(path, "_test.go"), strings.HasPrefix(path, "test/"), strings.Contains(path, "/testdata/"), bytes.Contains(content, []byte("\n// Code generated ")):
		case strings.HasPrefix(path, "runtime/"):
			ofRuntime += lines
		case strings.HasPrefix(path, "observe/"):
			ofObserve += lines
		default:
			own += lines
			files++
		}
	}
	t.Logf("a fork owns %d lines in %d files, %d of runtime/ and %d of observe/", own, files, ofRuntime, ofObserve)
	if own > mostOwn || ofRuntime > mostOfRuntime || ofObserve > mostOfObserve {
		t.Errorf("a fork owns %d lines, %d of runtime/ and %d of observe/; want at most %d, %d and %d",
			own, ofRuntime, ofObserve, mostOwn, mostOfRuntime, mostOfObserve)
	}
}

func repository(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// changed returns the files of the checkout that differ from the commit.
func changed(t *testing.T) []string {
	t.Helper()
	return append(strings.Fields(output(t, root, "diff", "--name-only", "--no-renames", "HEAD")),
		strings.Fields(output(t, root, "ls-files", "--others", "--exclude-standard"))...)
}

func output(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}
