/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package problem holds the problems that assign-gen finds in its input: all of them at once, in a fixed order, each with a code to look
// up, the place, and the ways out.
//
// It finds no problems itself; reading, markers and planning do.
package problem
