//go:build kubernetes1.34

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scheduler

import "k8s.io/kubernetes/pkg/scheduler/framework"

type (
	frameworkHandle = framework.Handle
	frameworkPlugin = framework.Plugin
)
