/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package checkout clones the repository as it is, committed or not, for tests that change the files of the clone and run its commands.
package checkout

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// commandTimeout bounds each command, of which the longest runs the tests of a fork.
	commandTimeout = 30 * time.Minute
	// Committed is the date of the commit of changes, in seconds since 1970, so that the same changes have the same hash.
	Committed = 1767225600
)

// Checkout is a folder with a repository.
type Checkout struct {
	Dir string
	// Environment is added to that of its commands.
	Environment []string
}

// Clone clones the repository with the root, and commits the changes that are not committed there.
func Clone(t *testing.T, root string) Checkout {
	t.Helper()
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	clone := Checkout{Dir: t.TempDir()}
	clone.Run(t, "git", "clone", "--quiet", "--local", repository, ".")
	// The index gets the files of the repository, and the folder those of the index.
	clone.Run(t, "git", "--work-tree", repository, "add", "--all")
	clone.Run(t, "git", "checkout-index", "--all", "--force")
	clone.Run(t, "git", "clean", "--quiet", "--force", "-d") // files that are deleted in the repository
	if clone.Output(t, "git", "status", "--porcelain") != "" {
		clone.Commit(t, "Change the template", Committed)
	}
	return clone
}

// Run runs a command, which has to succeed. It returns the lines of both outputs and logs the duration.
func (c Checkout) Run(t *testing.T, name string, args ...string) string {
	t.Helper()
	started := time.Now()
	out, err := c.Command(t, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(append([]string{name}, args...), " "), err, out)
	}
	t.Logf("%s: %s", strings.Join(append([]string{name}, args...), " "), time.Since(started).Round(time.Second))
	return string(out)
}

// Output runs a command, which has to succeed, and returns its standard output.
func (c Checkout) Output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := c.Command(t, name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

// Command returns a command that runs in the folder, for a limited time. Suites in the folder do not share the environment of this one, whose
// operator is another.
func (c Checkout) Command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.Dir, append(append(os.Environ(), "LOCALCLUSTER_KUBECONFIG="), c.Environment...), time.Second
	return cmd
}

// Commit commits everything, at a date in seconds since 1970.
func (c Checkout) Commit(t *testing.T, message string, date int64) {
	t.Helper()
	c.Run(t, "git", "add", "--all")
	cmd := c.Command(t, "git", "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", message)
	at := strconv.FormatInt(date, 10) + " +0000"
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git commit: %v\n%s", err, out)
	}
}

// Read returns the content of a file.
func (c Checkout) Read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.Dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Write writes a file and the folders that it is in.
func (c Checkout) Write(t *testing.T, path, content string) {
	t.Helper()
	whole := filepath.Join(c.Dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(whole), 0o750), os.WriteFile(whole, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// Files returns the paths that git ls-files prints with the arguments, by default those of all files that git knows.
func (c Checkout) Files(t *testing.T, args ...string) []string {
	t.Helper()
	return strings.Fields(c.Output(t, "git", append([]string{"ls-files"}, args...)...))
}
