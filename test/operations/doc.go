/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package operations holds the suite that installs the operator as a user does, with ko into an empty cluster, uses it, and
// removes it again: what that takes, and that nothing is left.
//
// How the operator does once it runs is for the other suites.
package operations
