//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

// listed is the number of objects that are listed together with a malformed one.
const listed = 500

// writtenBack are the versions at which kubectl writes objects back that it has read.
var writtenBack = old
