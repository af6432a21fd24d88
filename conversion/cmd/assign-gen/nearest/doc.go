/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package nearest finds the valid word that is closest to a misspelled one.
//
// It knows nothing of markers or fields; its callers hand it what would have been right.
package nearest
