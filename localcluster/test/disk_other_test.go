//go:build !linux || !nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

// helper is for tests that need a small disk, which only Linux lets a test make. They run every night.
func helper([]string) bool { return false }
