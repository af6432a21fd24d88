/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package simpledeployment tests the promises to users of a SimpleDeployment, whatever fails: which Pods exist, that a rollout never has a
// Pod too many or too few, and which Pods are left alone. Everything runs on a control plane with the operator's real processes. Pods are
// reported as running there, and nothing runs.
package simpledeployment
