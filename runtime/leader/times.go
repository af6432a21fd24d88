/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"fmt"
	"time"

	"knative.dev/pkg/leaderelection"
)

// jitter is the largest part of the retry period that is added to it at random.
const jitter = 1.2

// leastRoom is the minimum of room.
const leastRoom = 2 * time.Second

// room is the part of a lease that is left when its holder stops beginning reconciliations: half of it to end those under way, and half for
// clocks that run at different speeds.
func room(times *leaderelection.Config) time.Duration {
	return times.LeaseDuration - times.RenewDeadline - times.RetryPeriod
}

// Check returns an error if the settings do not fit together. The error begins with the key of the ConfigMap to change.
func Check(times *leaderelection.Config) error {
	jittered := time.Duration(jitter * float64(times.RetryPeriod))
	switch {
	case times.RenewDeadline <= jittered:
		return fmt.Errorf("renew-deadline: must be longer than %v, which is the largest jitter of retry-period, not %v",
			jittered, times.RenewDeadline)
	case times.LeaseDuration%time.Second != 0:
		return fmt.Errorf("lease-duration: must be whole seconds, which is what a lease holds, not %v", times.LeaseDuration)
	case room(times) < leastRoom:
		return fmt.Errorf("lease-duration: must be at least %v, which is renew-deadline, retry-period, and %v in which a leader ends its last writes, not %v",
			times.RenewDeadline+times.RetryPeriod+leastRoom, leastRoom, times.LeaseDuration)
	default:
		return nil
	}
}
