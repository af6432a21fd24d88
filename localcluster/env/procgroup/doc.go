/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package procgroup runs a child process in a separate process group, so that a Ctrl-C in the terminal reaches only its
// parent, and a signal from the parent reaches the child with everything that the child has started.
//
// On Linux the kernel also kills the child when its parent dies without a word (SIGKILL, a crash). Elsewhere such a parent
// leaves its children behind; a child that must not outlive it watches its standard input for the end.
//
// It decides nothing about restarts, logs or readiness; those belong to its callers.
package procgroup
