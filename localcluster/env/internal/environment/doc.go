/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package environment brings up a whole environment on this machine: the local control plane, the operator's manifests in it,
// and the operator, as processes or, with ko and the control plane's own node, as Pods from images. `make run`
// and the test harness share it, so that both run what a cluster would.
//
// It shows nothing and decides nothing about samples or tests. The control plane itself belongs to package controlplane, the
// processes to package processes.
package environment
