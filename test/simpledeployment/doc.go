/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package simpledeployment holds the suite of what users of a SimpleDeployment are promised: which Pods there are, that they
// are replaced without one too many or one too few, and what is left alone, whatever fails. Everything runs on a
// control plane with the operator's real processes. Pods are reported as running there, and nothing runs.
package simpledeployment
