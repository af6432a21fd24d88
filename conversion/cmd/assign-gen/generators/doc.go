/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package generators prints a plan as Go code: one gengo target for each package, one generator for each file.
//
// It decides nothing about conversions; it generates nothing that a plan does not contain. Where files end up is decided by its caller,
// which lets gengo write into a scratch folder.
package generators
