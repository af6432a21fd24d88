/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package run tests the program behind `make run` from outside, as a developer meets it: what it prints, how it ends, and
// that nothing is left of it, whenever it is interrupted.
//
// The other suites test the operator.
package run
