//go:build !kubernetes1.36

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
	"k8s.io/klog/v2"
)

func readFile(ctx context.Context, path string, options *corev1.PodLogOptions, state state, stdout, stderr io.Writer) error {
	logger := klog.FromContext(ctx)
	o := crilogs.NewLogOptions(options, time.Now())
	return crilogs.ReadLogs(ctx, &logger, path, container, o, state, stdout, stderr) //nolint:wrapcheck // by the caller
}
