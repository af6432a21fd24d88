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
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	goyaml "go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/logging"
)

const configWithin = 30 * time.Second

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
	err = fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		isHidden := name != "." && strings.HasPrefix(entry.Name(), ".")
		switch {
		case entry.IsDir() && (isHidden || entry.Name() == "lib"):
			return fs.SkipDir
		case entry.IsDir(), isHidden:
			return nil
		}
		if info, err := entry.Info(); err != nil || info.Mode().Perm()&0o111 == 0 {
			return err //nolint:wrapcheck // it names the path
		}
		h, err := load(ctx, name, filepath.Join(folder, name), options.withDefaults())
		if err != nil {
			errs = append(errs, fmt.Errorf("hook %s: %w", filepath.Join(folder, name), err))
		} else {
			hooks = append(hooks, h)
		}
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
	var stdout, stderr output
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := runGroup(ctx, cmd); err != nil {
		return nil, fmt.Errorf("running it with --config: %w: %s", err, bytes.TrimSpace(stderr.kept))
	}
	bindings, err := parseConfig(stdout.kept)
	if err != nil {
		return nil, fmt.Errorf("its bindings: %w", err)
	}
	return &Hook{name: name, bindings: bindings, call: x.call}, nil
}

// parseConfig returns the bindings of a configuration in YAML or JSON. The error has every mistake.
func parseConfig(content []byte) (Bindings, error) {
	if len(strings.TrimSpace(string(content))) == 0 {
		return Bindings{}, errors.New("it is empty: print configVersion: v1 and the bindings")
	}
	encoded, err := yaml.YAMLToJSONStrict(content) // of the first document
	if err != nil {
		return Bindings{}, fmt.Errorf("reading it as YAML: %w", err)
	}
	var document goyaml.Node
	documents := goyaml.NewDecoder(bytes.NewReader(content))
	for err = documents.Decode(&document); err == nil; {
		if err = documents.Decode(&document); !errors.Is(err, io.EOF) && (err != nil || document.Content[0].Tag != "!!null") {
			return Bindings{}, errors.New("it has more than one YAML document: print one with all bindings")
		}
	}
	var c struct {
		Bindings `json:",inline"`

		ConfigVersion string `json:"configVersion"`
	}
	strict, err := kjson.UnmarshalStrict(encoded, &c)
	if err != nil {
		return Bindings{}, fmt.Errorf("decoding it: %w", err)
	}
	if c.ConfigVersion != "v1" {
		strict = append(strict, fmt.Errorf("configVersion: it must be v1, not %q", c.ConfigVersion))
	}
	if err := errors.Join(strict...); err != nil {
		return Bindings{}, err
	}
	return c.Bindings, c.complete()
}
