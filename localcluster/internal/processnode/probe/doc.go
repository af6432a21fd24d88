/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package probe asks the processes of containers how they are, with Kubernetes' own probers, and counts the answers as a
// kubelet does. What follows from them is decided by who started the probe.
package probe
