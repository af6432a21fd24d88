/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package markers turns comment lines such as +conversion:rename=Ref into settings. A marker that is misspelt, misplaced
// or repeated is a problem and never ignored: whoever wrote it relies on it.
//
// Whether what a marker asks for can be done is for the planner to say.
package markers
