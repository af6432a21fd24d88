/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package record writes down what a plan does: a report of every field's fate, for those who review a change of the API,
// and a lock of all bag keys, so that nobody renames one that released objects carry.
//
// Both follow from the plan alone.
package record
