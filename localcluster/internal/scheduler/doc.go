/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package scheduler runs Kubernetes' own scheduler with one rule more: Pods all of whose images are in the local registry
// go to the process node, and all others to the Node on which nothing runs. Everything else is as in a cluster.
package scheduler
