/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package kubelet serves what the API server asks a Node for: the logs of containers, commands in them, and connections
// to their ports. Only the API server may ask.
package kubelet
