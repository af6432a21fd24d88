/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package problem says why a step of a reconciler did not reach what the spec asks for, and what is to happen next.
//
// The steps of a pass return problems rather than errors, because most of what stands in their way is no failure of the
// pass: a target that is missing is said in a condition, and the watch that sees it arrive wakes the object. Only what no
// watch tells is looked at again after a time, and only what should not have happened is retried with back-off.
//
// The reasons themselves, and marking conditions with them, are the business of each kind.
package problem
