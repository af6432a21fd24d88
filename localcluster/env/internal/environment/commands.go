/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// Kubectl runs the kubectl that is linked into the control plane, as the administrator, and returns what it printed. Its
// error carries what it printed on standard error.
func (e *Env) Kubectl(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	cmd := exec.Command(e.Localcluster, append([]string{"kubectl"}, args...)...)
	cmd.Stdin = stdin
	return e.output(ctx, cmd, "kubectl", args)
}

// Stored returns the entries of etcd with a key prefix, sorted by key.
func (e *Env) Stored(ctx context.Context, prefix string) ([]Stored, error) {
	args := []string{"stored", "--dir", e.clusterDir(), prefix}
	out, err := e.output(ctx, exec.Command(e.Localcluster, args...), "localcluster", args)
	if err != nil {
		return nil, err
	}
	var entries []Stored
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var entry Stored
		switch err := decoder.Decode(&entry); {
		case errors.Is(err, io.EOF):
			return entries, nil
		case err != nil:
			return nil, fmt.Errorf("reading what localcluster printed: %w", err)
		}
		entries = append(entries, entry)
	}
}

// Stored is a key of etcd and what the API server wrote for it.
type Stored struct {
	Key string `json:"key"`
	// Revision is that of the last write, also of one that changed nothing.
	Revision int64  `json:"revision"`
	Value    []byte `json:"value"`
}

// Ko runs ko as the administrator, in the folder of a checkout, with the control plane's registry for its images, and
// returns what it printed. The environment must have been started with images.
func (e *Env) Ko(ctx context.Context, dir string, args ...string) (string, error) {
	images, err := e.KoEnvironment(ctx)
	if err != nil {
		return "", err
	}
	path, err := e.KubectlPath()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(e.ko, args...)
	// ko logs what it builds and pushes, which takes minutes the first time.
	cmd.Dir, cmd.Stderr = dir, e.options.Progress
	cmd.Env = append(append(os.Environ(), images...), "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
	return e.output(ctx, cmd, "ko", args)
}

// KoEnvironment are the variables, as NAME=value, by which ko pushes images to the control plane's registry and builds
// them on its empty base image.
func (e *Env) KoEnvironment(ctx context.Context) ([]string, error) {
	registry, err := e.registry(ctx)
	if err != nil {
		return nil, err
	}
	return []string{"KO_DOCKER_REPO=" + registry + "/mallard", "KO_DEFAULTBASEIMAGE=" + registry + "/base"}, nil
}

// output runs a command that finds the control plane through its environment.
func (e *Env) output(ctx context.Context, cmd *exec.Cmd, name string, args []string) (string, error) {
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	// In the user's own cache, what this server has would be taken for what the next one on its port has.
	cmd.Env = append(cmd.Env, "KUBECONFIG="+e.Kubeconfig, "KUBECACHEDIR="+e.kubectlCache)
	stdout, err := procgroup.Output(ctx, cmd, kubectlGrace)
	if err != nil {
		return stdout, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return stdout, nil
}

// KubectlPath returns a folder with the control plane's kubectl in it, to be put into PATH for what calls kubectl by its
// name, as ko does: the user need not have one.
func (e *Env) KubectlPath() (string, error) {
	dir := filepath.Join(e.options.Dir, "path")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a folder for kubectl: %w", err)
	}
	script := "#!/bin/sh\nexec '" + strings.ReplaceAll(e.Localcluster, "'", `'\''`) + "' kubectl \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700); err != nil {
		return "", fmt.Errorf("writing a kubectl for PATH: %w", err)
	}
	return dir, nil
}
