//go:build !kubernetes1.34

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scheduler

import fwk "k8s.io/kube-scheduler/framework"

type (
	frameworkHandle = fwk.Handle
	frameworkPlugin = fwk.Plugin
)
