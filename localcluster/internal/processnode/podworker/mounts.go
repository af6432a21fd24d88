/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/container"
)

// mounts returns the mounts of a container by path.
func (w *Worker) mounts(c *corev1.Container, variables map[string]string, e *execution) ([]container.Mount, error) {
	var all []container.Mount
	for _, m := range c.VolumeMounts {
		source := w.volumes.Path(m.Name)
		below, err := subPath(m, variables)
		if err == nil && below != "" {
			source, err = within(source, below)
		}
		if err != nil {
			return nil, fmt.Errorf("volume %s at %s: %w", m.Name, m.MountPath, err)
		}
		all = append(all, container.Mount{Source: source, Target: m.MountPath, ReadOnly: m.ReadOnly})
	}
	if w.node.Runtime.Isolated() {
		if err := os.WriteFile(e.messages, nil, 0o666); err != nil {
			return nil, fmt.Errorf("making the file of the termination message: %w", err)
		}
		if err := os.Chmod(e.messages, 0o666); err != nil {
			return nil, fmt.Errorf("opening the file of the termination message: %w", err)
		}
		all = append(all, container.Mount{Source: e.messages, Target: cmp.Or(c.TerminationMessagePath, corev1.TerminationMessagePathDefault)})
	}
	return all, nil
}

// subPath returns the part of a volume that a mount selects.
func subPath(m corev1.VolumeMount, variables map[string]string) (string, error) {
	if m.SubPathExpr == "" {
		return m.SubPath, nil
	}
	var missing []string
	expanded := expansion.Expand(m.SubPathExpr, func(name string) string {
		value, ok := variables[name]
		if !ok {
			missing = append(missing, name)
		}
		return value
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("subPathExpr %q: missing value for %q: give the container an environment variable of that name",
			m.SubPathExpr, missing[0])
	}
	return expanded, nil
}

// within returns a part of a volume, made as open as the volume if it is missing. A symbolic link that a program has put there
// must not lead to the machine's own files.
func within(volume, below string) (string, error) {
	volume, err := filepath.EvalSymlinks(volume)
	if err != nil {
		return "", fmt.Errorf("looking for the volume: %w", err)
	}
	path := filepath.Join(volume, filepath.Clean("/"+below))
	found, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, makeAlike(volume, path)
	}
	if err != nil {
		return "", fmt.Errorf("subPath %q: %w", below, err)
	}
	if found != volume && !strings.HasPrefix(found, volume+string(filepath.Separator)) {
		return "", fmt.Errorf("subPath %q leads out of the volume by a symbolic link: name a folder or file within it", below)
	}
	return found, nil
}

// makeAlike makes a folder, and those on the way to it, with the owner and the mode of the volume.
func makeAlike(volume, path string) error {
	info, err := os.Stat(volume)
	if err != nil {
		return fmt.Errorf("looking at the volume: %w", err)
	}
	root, err := os.OpenRoot(volume)
	if err != nil {
		return fmt.Errorf("opening the volume: %w", err)
	}
	defer func() { _ = root.Close() }()
	below, err := filepath.Rel(volume, path)
	if err != nil {
		return fmt.Errorf("making the subPath: %w", err)
	}
	made := ""
	for part := range strings.SplitSeq(below, string(filepath.Separator)) {
		made = filepath.Join(made, part)
		if err := root.Mkdir(made, 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("making the subPath: %w", err)
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			if err := root.Chown(made, int(owner.Uid), int(owner.Gid)); err != nil {
				return fmt.Errorf("making the subPath: %w", err)
			}
		}
		if err := root.Chmod(made, info.Mode()); err != nil {
			return fmt.Errorf("making the subPath: %w", err)
		}
	}
	return nil
}
