//go:build !nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

// modes are the ways in which informers list. The default is tested before each change, and both are every night.
var modes = map[string]bool{"Streamed": true}

// share divides the numbers of objects and changes, which are larger every night.
const share = 5
