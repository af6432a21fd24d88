/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"

	"github.com/mallard-dev/mallard/test/moduleproxy"
)

const (
	root = "../.."
	// commandTimeout bounds each command, of which the longest runs the tests.
	commandTimeout = 30 * time.Minute
	// committed is the date of the commit of changes, so that the same changes have the same hash.
	committed = 1767225600
)

// libraries are the modules that forks may require.
var libraries = []string{"conversion", "conversion/knative", "localcluster", "localcluster/env"}

// checkout is a repository: the template, or a fork.
type checkout struct {
	dir string
	// environment in which its commands run.
	environment []string
}

// newTemplate clones the checkout, with its changes as another commit. A proxy serves the template's modules at that commit.
func newTemplate(t *testing.T) checkout {
	t.Helper()
	template := checkout{dir: t.TempDir()}
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	template.run(t, "git", "clone", "--quiet", "--local", repository, ".")
	paths := append(strings.Fields(checkout{dir: root}.output(t, "git", "diff", "--name-only", "--no-renames", "HEAD")),
		strings.Fields(checkout{dir: root}.output(t, "git", "ls-files", "--others", "--exclude-standard"))...)
	for _, path := range paths {
		template.copy(t, path)
	}
	if len(paths) > 0 {
		template.commit(t, "Change the template", committed)
	}
	template.environment = template.serveModules(t)
	return template
}

// serveModules returns the environment variables for commands that download the modules of the last commit.
func (c checkout) serveModules(t *testing.T) []string {
	t.Helper()
	hash, date, _ := strings.Cut(strings.TrimSpace(c.output(t, "git", "log", "-1", "--format=%H %ct")), " ")
	seconds, err := strconv.ParseInt(date, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return moduleproxy.At(t, c.dir, module.PseudoVersion("v0", "", time.Unix(seconds, 0).UTC(), hash[:12]), libraries...)
}

// fork makes a fork of the last commit in an own folder.
func (c checkout) fork(t *testing.T, variables map[string]string) checkout {
	t.Helper()
	made := checkout{dir: filepath.Join(t.TempDir(), "fork"), environment: c.environment}
	args := []string{"fork", "TO=" + made.dir}
	for _, variable := range slices.Sorted(maps.Keys(variables)) {
		args = append(args, variable+"="+variables[variable])
	}
	c.run(t, "make", args...)
	return made
}

func (c checkout) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	started := time.Now()
	out, err := c.command(t, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(append([]string{name}, args...), " "), err, out)
	}
	t.Logf("%s: %s", strings.Join(append([]string{name}, args...), " "), time.Since(started).Round(time.Second))
	return string(out)
}

func (c checkout) output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := c.command(t, name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

func (c checkout) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.dir, append(os.Environ(), c.environment...), time.Second
	return cmd
}

// commit commits everything, at a date in seconds since 1970.
func (c checkout) commit(t *testing.T, message string, date int64) {
	t.Helper()
	c.run(t, "git", "add", "--all")
	cmd := c.command(t, "git", "-c", "user.name=fork", "-c", "user.email=fork@example.com", "commit", "--quiet", "--message", message)
	at := strconv.FormatInt(date, 10) + " +0000"
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git commit: %v\n%s", err, out)
	}
}

// copy takes a file over as it is in the checkout, where it may be deleted.
func (c checkout) copy(t *testing.T, path string) {
	t.Helper()
	from, to := filepath.Join(root, path), filepath.Join(c.dir, path)
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

func (c checkout) read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func (c checkout) write(t *testing.T, path, content string) {
	t.Helper()
	whole := filepath.Join(c.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(whole), 0o750), os.WriteFile(whole, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// files returns the paths of the files that git knows.
func (c checkout) files(t *testing.T, patterns ...string) []string {
	t.Helper()
	return strings.Fields(c.output(t, "git", append([]string{"ls-files", "--"}, patterns...)...))
}
