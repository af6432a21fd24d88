/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package probe probes the processes of containers with Kubernetes' own probers, and counts the results as a kubelet does. The caller that
// started a probe decides about the consequences.
package probe
