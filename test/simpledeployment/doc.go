/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package simpledeployment tests the promises to users of a SimpleDeployment, whatever fails: which Pods exist, that a rollout never has a Pod too
// many or too few, and which Pods the controller leaves alone. Pods are only reported as running.
package simpledeployment
