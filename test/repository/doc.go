/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package repository tests the rules of this repository that no compiler or linter checks: who may depend on whom, license headers, marks of
// generated code, and that the Makefile, its documentation and CI agree.
package repository
