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

// MaxBuckets is the largest number of shares. The controller's Role lists every lease name up to it.
const MaxBuckets = 10

// leastRoom is the least that must be left of a lease when its holder gives it up.
const leastRoom = 2 * time.Second

// Room is how much of a lease is left when its holder gives it up. A quarter of it is
// for the requests that have been sent, a quarter for ending reconciliations that were
// cancelled, and half for clocks that run at different speeds.
//
// A holder tries to renew from one retry period after the last success for as long as
// the renew deadline. All of it is counted from just before the last successful
// request was sent, since another process may count from when the API server stored it.
func Room(times *leaderelection.Config) time.Duration {
	return times.LeaseDuration - times.RenewDeadline - times.RetryPeriod
}

// Check returns what is wrong with the settings together; the error begins with the key of
// the ConfigMap that is to be changed.
func Check(times *leaderelection.Config) error {
	jittered := time.Duration(jitter * float64(times.RetryPeriod))
	switch {
	case times.RetryPeriod < time.Millisecond:
		return fmt.Errorf("retry-period: must be at least 1ms, not %v", times.RetryPeriod)
	case times.RenewDeadline <= jittered:
		return fmt.Errorf("renew-deadline: must be longer than %v, which is the largest jitter of retry-period, not %v",
			jittered, times.RenewDeadline)
	case times.LeaseDuration%time.Second != 0:
		return fmt.Errorf("lease-duration: must be whole seconds, which is what a lease holds, not %v", times.LeaseDuration)
	case Room(times) < leastRoom:
		return fmt.Errorf("lease-duration: must be at least %v, which is renew-deadline, retry-period, and %v in which a leader ends its last writes, not %v",
			times.RenewDeadline+times.RetryPeriod+leastRoom, leastRoom, times.LeaseDuration)
	default:
		return nil
	}
}
