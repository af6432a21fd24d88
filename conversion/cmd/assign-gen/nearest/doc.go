/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package nearest finds the word that was meant by a misspelt one.
//
// It knows nothing of markers or fields; its callers hand it what would have been right.
package nearest
