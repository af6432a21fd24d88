/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	internalapi "k8s.io/cri-api/pkg/apis"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	crilogs "k8s.io/cri-client/pkg/logs"
	"k8s.io/klog/v2"
)

// Read writes a log to a stream, and with options.Follow goes on until the container has ended or the context does.
func Read(ctx context.Context, path string, options *corev1.PodLogOptions, running func() bool, to io.Writer) error {
	logger := klog.FromContext(ctx)
	stdout, stderr := to, to
	if options.Stream != nil {
		switch *options.Stream {
		case corev1.LogStreamStdout:
			stderr = io.Discard
		case corev1.LogStreamStderr:
			stdout = io.Discard
		}
	}
	err := crilogs.ReadLogs(ctx, &logger, path, "container", crilogs.NewLogOptions(options, time.Now()), state{running: running}, stdout, stderr)
	if err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	return nil
}

// state answers the one question that the reader has to a container runtime.
type state struct {
	internalapi.RuntimeService

	running func() bool
}

// ContainerStatus says whether the container still runs.
func (s state) ContainerStatus(context.Context, string, bool) (*runtimeapi.ContainerStatusResponse, error) {
	current := runtimeapi.ContainerState_CONTAINER_EXITED
	if s.running() {
		current = runtimeapi.ContainerState_CONTAINER_RUNNING
	}
	return &runtimeapi.ContainerStatusResponse{Status: &runtimeapi.ContainerStatus{State: current}}, nil
}
