//go:build !nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

const (
	// mostKilledPlans is the number of plans during which processes are killed.
	mostKilledPlans = 1
	// killedEach is the distance of the requests before which a process is killed.
	killedEach = 2
)
