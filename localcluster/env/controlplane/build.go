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
		b := &build{source: src, work: work, progress: newProgress(progress)}
		built, err := b.run(ctx)
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

type build struct {
	source   *source
	work     string
	progress *progress
}

func (b *build) run(ctx context.Context) (string, error) {
	started := time.Now()
	stop := b.progress.start()
	defer stop()
	packages, err := b.listStale(ctx)
	if err != nil {
		return "", err
	}
	b.progress.compiling(packages)
	out := filepath.Join(b.work, binaryName)
	if _, err := b.goCommand(ctx, "build", "-v", "-o", out); err != nil {
		return "", err
	}
	stop()
	b.progress.sayf("localcluster is built, in %s", time.Since(started).Round(time.Second))
	return out, nil
}

// listStale returns the packages that the build has to compile. The go command knows exactly, given the flags that the
// build has: what its cache holds is not stale. It downloads the modules first.
func (b *build) listStale(ctx context.Context) (map[string]bool, error) {
	// The program itself is always stale, because it is not installed; the reason states that it is in the cache.
	const format = `{{if and .Stale (ne .StaleReason "not installed but available in build cache")}}{{.ImportPath}}{{end}}`
	out, err := b.goCommand(ctx, "list", "-deps", "-f", format)
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
	// The flags say what a package is compiled to. A commit alone must not make another program, so that the state of the
	// repository stays out of it.
	args = append(append(args, CompilerFlags()...), "-trimpath", "-buildvcs=false", "-modfile", b.source.modfile, "-tags", b.source.tags, "-ldflags", b.source.ldflags, ".")
	cmd := exec.Command("go", args...)
	cmd.Dir = b.source.dir
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
