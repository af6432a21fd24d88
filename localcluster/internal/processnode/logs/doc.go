/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package logs keeps what containers write, in the format of Kubernetes' container runtimes and within bounds, and reads it
// back with Kubernetes' own reader, which knows about following, tails, times and rotation.
package logs
