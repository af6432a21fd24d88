/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package samples holds the names that every version of the API group
// samples.knative.dev shares: the group, its annotations and labels, and the
// class that this operator serves.
//
// Types are not its job; they live in the packages of their versions.
package samples
