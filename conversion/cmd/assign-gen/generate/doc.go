/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package generate is one run of assign-gen: it reads the packages, has the conversions of each API planned, and writes the files.
//
// Nothing is written unless everything can be: files are written next to their places, and take the place of earlier ones at the end.
package generate
