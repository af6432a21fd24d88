/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package generators prints a plan as Go code.
//
// It decides nothing about conversions; it generates nothing that a plan does not contain. Its caller writes the files.
package generators
