/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides how each field of each type gets from one version of an API to the next and back. It does all the
// thinking: emitter, report and lock only print a plan.
//
// It is pure: from a description to a plan, without files, and with every problem of the input at once. A plan is made only without problems.
package plan
