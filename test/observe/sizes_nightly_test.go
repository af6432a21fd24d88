//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

// modes are the ways in which informers list.
var modes = map[string]bool{"Streamed": true, "Listed": false}

// share divides the numbers of objects and changes.
const share = 1
