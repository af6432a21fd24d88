/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"knative.dev/pkg/logging"
)

const (
	// configWithin is the time that an executable has to print its bindings.
	configWithin = 30 * time.Second
	// mostOfConfig bounds their size.
	mostOfConfig = 1 << 20
)

// Load returns the executables below a folder as hooks, each with the bindings that it prints when it is called with --config. Their names are
// their paths below the folder. Files that are not executable, hidden ones, and folders with the name lib are left out. The options must be
// those of NewController. It ends programs and removes folders that an earlier process could not, since it was killed.
func Load(ctx context.Context, folder string, options Options) ([]*Hook, error) {
	var hooks []*Hook
	var errs []error
	if err := removeAbandoned(options.Folder); err != nil {
		logging.FromContext(ctx).Warnw("Removing the folders of a process that was killed failed", "error", err)
	}
	folder, err := filepath.Abs(folder) // each hook runs in its own folder
	if err != nil {
		return nil, fmt.Errorf("finding the folder of the hooks: %w", err)
	}
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		isLeftOut := entry != nil && (path != folder && strings.HasPrefix(entry.Name(), ".") || entry.IsDir() && entry.Name() == "lib")
		switch {
		case err != nil:
			return err
		case isLeftOut && entry.IsDir():
			return fs.SkipDir
		case isLeftOut, entry.IsDir():
			return nil
		}
		if info, err := entry.Info(); err != nil || info.Mode().Perm()&0o111 == 0 {
			return err //nolint:wrapcheck // it names the path
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err //nolint:wrapcheck // it names the paths
		}
		h, err := load(ctx, name, path, options.withDefaults())
		if err != nil {
			errs = append(errs, fmt.Errorf("hook %s: %w", path, err))
			return nil
		}
		hooks = append(hooks, h)
		return nil
	})
	return hooks, errors.Join(append(errs, err)...)
}

func load(ctx context.Context, name, path string, options Options) (*Hook, error) {
	x := &executable{path: path, options: options}
	ctx, cancel := context.WithTimeoutCause(ctx, configWithin, errTimeout)
	defer cancel()
	cmd, err := x.command(ctx, "--config")
	if err != nil {
		return nil, err
	}
	var stdout, stderr limited
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err = cmd.Start(); err == nil {
		err = awaitGroup(ctx, cmd)
	}
	if err != nil {
		return nil, fmt.Errorf("running it with --config: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	bindings, err := parseConfig(stdout.Bytes())
	if err != nil {
		return nil, fmt.Errorf("its bindings: %w", err)
	}
	return &Hook{name: name, bindings: bindings, call: x.call}, nil
}

// limited is a buffer that drops what is too much.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := mostOfConfig - l.Len(); len(p) > room {
		l.Buffer.Write(p[:room])
		return len(p), nil
	}
	return l.Buffer.Write(p) //nolint:wrapcheck // it cannot fail
}
