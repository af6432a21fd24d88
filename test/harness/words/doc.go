/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package words holds what several suites say in the same way of the operator's own kinds, of which package harness knows
// nothing: a Service and the objects that refer to it, a stream of such objects, at which version they are stored, and who
// leads. What one suite alone says stays in that suite.
package words
