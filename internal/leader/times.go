/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"fmt"
	"time"

	clientleader "k8s.io/client-go/tools/leaderelection"

	"knative.dev/pkg/leaderelection"
)

// leastRoom is the least that must be left of a lease when its holder knows that it has
// lost it: half of that is for what is being worked on, the other half for clocks that
// run at different speeds.
const leastRoom = 2 * time.Second

// Room is how much of a lease is left when its holder gives up renewing it. It tries
// from one retry period after the last success for as long as the renew deadline.
func Room(times *leaderelection.Config) time.Duration {
	return times.LeaseDuration - times.RenewDeadline - times.RetryPeriod
}

// Check returns what is wrong with the times together; the error begins with the key of
// the config map that is to be changed.
func Check(times *leaderelection.Config) error {
	jittered := time.Duration(clientleader.JitterFactor * float64(times.RetryPeriod))
	switch {
	case times.RetryPeriod < time.Millisecond:
		return fmt.Errorf("retry-period: must be at least 1ms, not %v", times.RetryPeriod)
	case times.RenewDeadline <= jittered:
		return fmt.Errorf("renew-deadline: must be longer than %v, which is retry-period and the %v that chance may add to it, not %v",
			jittered, jittered-times.RetryPeriod, times.RenewDeadline)
	case times.LeaseDuration%time.Second != 0:
		return fmt.Errorf("lease-duration: must be whole seconds, which is what a lease holds, not %v", times.LeaseDuration)
	case Room(times) < leastRoom:
		return fmt.Errorf("lease-duration: must be at least %v, which is renew-deadline, retry-period, and %v in which a leader ends its last writes, not %v",
			times.RenewDeadline+times.RetryPeriod+leastRoom, leastRoom, times.LeaseDuration)
	default:
		return nil
	}
}
