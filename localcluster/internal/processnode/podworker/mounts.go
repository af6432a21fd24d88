/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/container"
)

func (w *Worker) mounts(c *corev1.Container, e *execution) ([]container.Mount, error) {
	var all []container.Mount
	for _, m := range c.VolumeMounts {
		source := w.volumes.Path(m.Name)
		if m.SubPath != "" {
			sub, err := filepath.EvalSymlinks(filepath.Join(source, filepath.Clean("/"+m.SubPath)))
			if errors.Is(err, os.ErrNotExist) {
				sub = filepath.Join(source, filepath.Clean("/"+m.SubPath))
				err = os.MkdirAll(sub, 0o777) //nolint:gosec // as open as the volume
			}
			if err != nil {
				return nil, fmt.Errorf("sub-path %s of volume %s: %w", m.SubPath, m.Name, err)
			}
			source = sub
		}
		all = append(all, container.Mount{Source: source, Target: m.MountPath, ReadOnly: m.ReadOnly})
	}
	if w.node.Runtime.Isolated() {
		if err := os.WriteFile(e.messages, nil, 0o666); err != nil { //nolint:gosec // the program writes it, as whom ever it runs
			return nil, fmt.Errorf("making the file of the termination message: %w", err)
		}
		if err := os.Chmod(e.messages, 0o666); err != nil { //nolint:gosec // see above
			return nil, fmt.Errorf("opening the file of the termination message: %w", err)
		}
		all = append(all, container.Mount{Source: e.messages, Target: cmp.Or(c.TerminationMessagePath, corev1.TerminationMessagePathDefault)})
	}
	return all, nil
}
