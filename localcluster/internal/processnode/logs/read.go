/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Read writes a log to a stream, and with options.Follow continues until the container has ended or the context does.
func Read(ctx context.Context, path string, options *corev1.PodLogOptions, running func() bool, to io.Writer) error {
	stdout, stderr := to, to
	if options.Stream != nil {
		switch *options.Stream {
		case corev1.LogStreamStdout:
			stderr = io.Discard
		case corev1.LogStreamStderr:
			stdout = io.Discard
		}
	}
	if err := readFile(ctx, path, options, state{running: running}, stdout, stderr); err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	return nil
}

// container is the name that the reader has for the container in its messages.
const container = "container"

// state answers the one question that the reader has to a container runtime.
type state struct {
	internalapi.RuntimeService

	running func() bool
}

// ContainerStatus reports whether the container still runs.
func (s state) ContainerStatus(context.Context, string, bool) (*runtimeapi.ContainerStatusResponse, error) {
	current := runtimeapi.ContainerState_CONTAINER_EXITED
	if s.running() {
		current = runtimeapi.ContainerState_CONTAINER_RUNNING
	}
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{State: current}}, nil
}
