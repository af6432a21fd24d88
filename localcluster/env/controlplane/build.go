/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// buildGrace is the time that an interrupted go command gets to end its compilers before all are killed.
const buildGrace = 5 * time.Second

// Build returns the path of the control plane's program, built from the sources in the checkout that the working directory is in, or
// else from those in the module cache, for the version of Kubernetes in the environment variable LOCALCLUSTER_KUBERNETES, if it is set. It builds it
// only if the cache has none that was made from the same sources with the same Go. Progress is written as lines, or as one line that changes if the
// writer is a terminal; nothing is written if the program exists already. When the context ends, the compilers are stopped, nothing is left behind,
// and the cause is returned.
func Build(ctx context.Context, progress io.Writer) (path string, err error) {
	src, err := findSource(ctx)
	if err != nil {
		return "", err
	}
	cache, err := openCache()
	if err != nil {
		return "", err
	}
	if path, found := cache.lookup(src.hash); found {
		return path, nil
	}
	unlock, err := cache.lock(ctx, func(pid string) {
		fmt.Fprintf(progress, "localcluster is being built by process %s; waiting for it\n", pid)
	})
	if err != nil {
		return "", err
	}
	defer unlock()
	cache.prune(src.hash)
	if path, found := cache.lookup(src.hash); found {
		return path, nil
	}
	work, err := os.MkdirTemp(cache.dir, workPrefix)
	if err != nil {
		return "", fmt.Errorf("making a folder to build in: %w", err)
	}
	// What cannot be removed now is removed before the next build.
	defer func() { _ = os.RemoveAll(work) }()
	for {
		built, err := src.build(work, progress).program(ctx)
		if err != nil {
			return "", fmt.Errorf("building localcluster: %w", err)
		}
		// A program that was compiled while its sources changed is neither the old nor the new one.
		now, err := findSource(ctx)
		if err != nil {
			return "", err
		}
		if now.hash == src.hash {
			return cache.store(src.hash, built)
		}
		src = now
		fmt.Fprintln(progress, "the sources have changed during the build; building again")
	}
}

// Compile compiles a package in a folder of a module and shows its progress under a name. It is silent if the package is in the go command's cache.
// Temporary files are in the folder work, which the caller removes, and args are flags of the go command.
func Compile(ctx context.Context, progress io.Writer, name, dir, work, pkg string, args ...string) error {
	b := &build{dir: dir, args: args, work: work, progress: newProgress(progress, name)}
	packages, err := b.listStale(ctx, pkg)
	if err == nil && len(packages) > 0 {
		stop := b.progress.start()
		err = b.compile(ctx, packages, pkg)
		stop()
	}
	if err != nil {
		return fmt.Errorf("building %s: %w", name, err)
	}
	return nil
}

// build is one run of the go command in a folder, with flags.
type build struct {
	dir      string
	args     []string
	work     string
	progress *progress
}

// build returns the build of the control plane.
func (s *source) build(work string, progress io.Writer) *build {
	// The flags determine how a package is compiled. The state of the repository stays out, so that a commit alone makes no other program.
	args := append(CompilerFlags(), "-trimpath", "-buildvcs=false", "-modfile", s.modfile, "-tags", s.tags, "-ldflags", s.ldflags)
	return &build{dir: s.dir, args: args, work: work, progress: newProgress(progress, binaryName)}
}

// program builds the program in the folder.
func (b *build) program(ctx context.Context) (path string, err error) {
	defer b.progress.start()()
	packages, err := b.listStale(ctx, ".")
	if err != nil {
		return "", err
	}
	path = filepath.Join(b.work, binaryName)
	return path, b.compile(ctx, packages, "-o", path, ".")
}

// compile runs go build with arguments, which compiles the packages.
func (b *build) compile(ctx context.Context, packages map[string]bool, args ...string) error {
	b.progress.compiling(packages)
	if _, err := b.goCommand(ctx, append([]string{"build", "-v"}, args...)...); err != nil {
		return err
	}
	b.progress.built()
	return nil
}

// listStale returns the packages that the build has to compile. The go command knows exactly, given the flags that the
// build has: what its cache holds is not stale. It downloads the modules first.
func (b *build) listStale(ctx context.Context, pkg string) (map[string]bool, error) {
	// The program itself is always stale, because it is not installed; the reason states that it is in the cache.
	const format = `{{if and .Stale (ne .StaleReason "not installed but available in build cache")}}{{.ImportPath}}{{end}}`
	out, err := b.goCommand(ctx, "list", "-deps", "-f", format, pkg)
	if err != nil {
		return nil, err
	}
	packages := map[string]bool{}
	for name := range strings.FieldsSeq(out) {
		packages[name] = true
	}
	return packages, nil
}

// goCommand runs the go command for the program and returns what it printed. The lines of its error output that are not
// about progress are part of its error.
func (b *build) goCommand(ctx context.Context, args ...string) (string, error) {
	var stdout strings.Builder
	var messages tail
	args = slices.Insert(args, 1, b.args...)
	cmd := exec.Command("go", args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GOWORK=off",
		// Compilers that are killed leave their files here, where they are removed with the rest.
		"GOTMPDIR="+b.work)
	cmd.WaitDelay = buildGrace
	cmd.Stdout = &stdout
	cmd.Stderr = &lines{handle: func(line string) {
		if !b.progress.line(line) {
			messages.add(line)
		}
	}}
	if err := procgroup.Run(ctx, cmd, buildGrace); err != nil {
		return "", messages.explain(err)
	}
	return stdout.String(), nil
}
