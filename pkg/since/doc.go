/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package since remembers for how long passes have found something to be so, where no object says it: that a request has been
// refused, or that nobody needs a thing any more.
//
// What it remembers ends with the process and then begins anew, so it is for what has to last a moment before it counts, and
// not for what has to be known. How long a condition has lasted stands in the condition; see package problem.
package since
