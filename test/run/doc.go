/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package run tests the program behind make run from outside: what it prints, how it ends, and that nothing is left of it, whenever it is
// interrupted.
package run
