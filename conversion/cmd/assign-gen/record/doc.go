/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package record writes down what a plan does: a report of every field's fate, for reviewers of a change of the API, and a lock of all bag keys, so
// that no key that released objects carry is renamed.
//
// Both follow from the plan alone.
package record
