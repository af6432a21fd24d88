/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package kubectl holds the suite of what somebody meets who uses the operator's kinds
// with kubectl: its commands behave as they do for Kubernetes' own kinds.
//
// What makes an object Ready, and what is rejected in general, is not its job.
package kubectl
