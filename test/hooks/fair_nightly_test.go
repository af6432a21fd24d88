//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import "testing"

func TestDeletions_FinalizersHoldThousands_TheQueueIsAsAnEmptyOne(t *testing.T) {
	holdDeletions(t, 2000)
}
