/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package operations installs the operator as a user does, with ko into an empty cluster, uses it, removes it, and tests that nothing is left.
package operations
