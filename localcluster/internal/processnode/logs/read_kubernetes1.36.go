//go:build kubernetes1.36

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"context"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	crilogs "k8s.io/cri-client/pkg/logs"
)

func readFile(ctx context.Context, path string, options *corev1.PodLogOptions, state state, stdout, stderr io.Writer) error {
	o := &crilogs.LogOptions{
		TailLines: options.TailLines, LimitBytes: options.LimitBytes, Follow: options.Follow, Timestamp: options.Timestamps,
	}
	// The API server admits one of the two.
	switch {
	case options.SinceSeconds != nil:
		o.Since = time.Now().Add(-time.Duration(*options.SinceSeconds) * time.Second)
	case options.SinceTime != nil:
		o.Since = options.SinceTime.Time
	}
	return crilogs.ReadLogs(ctx, path, container, o, state, stdout, stderr) //nolint:wrapcheck // by the caller
}
