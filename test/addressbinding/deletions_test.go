//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"strconv"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestAddressBinding_ThousandSubjectsCreatedDuringDeletions_NoneKeepsTheVariable repeats the scene, because each round hits another moment.
func TestAddressBinding_ThousandSubjectsCreatedDuringDeletions_NoneKeepsTheVariable(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for round := range 25 {
		t.Run(strconv.Itoa(round), func(t *testing.T) { deleteWhileCreating(t, env) })
	}
}
