/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package repository holds the rules of this repository that no compiler or linter checks: who may depend on whom, what
// every file says of its license, that generated code is marked as such, that the Makefile, its documentation and CI say
// the same.
//
// It needs no cluster and tests no behavior of the operator.
package repository
