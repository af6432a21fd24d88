/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package markers turns comment lines such as +conversion:rename=Ref into settings. A marker that is misspelled, misplaced or repeated is a
// problem and never ignored: its author relies on it.
//
// The planner decides whether the effect of a marker is possible.
package markers
