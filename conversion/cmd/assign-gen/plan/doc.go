/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides how each field of each type gets from one version of an API to the next and back. It does all the
// thinking: emitter, report and lock only print a plan.
//
// It is pure: it turns a description into a plan without reading files, and reports all problems of the input at once. It returns a plan
// only for an input without problems.
package plan
