/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"sync"
	"time"

	expiring "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"

	"github.com/mallard-dev/mallard/runtime/failures"
)

// attempts remembers the patches that were sent to subjects. A repeated patch is sent with increasing delay, because another controller may
// revert it, or the API server reject it. It may be used by several goroutines.
type attempts struct {
	clock   clock.PassiveClock
	backoff *flowcontrol.Backoff
	last    *expiring.Expiring

	mu        sync.Mutex
	collected time.Time
}

// attempt is the last request with a patch, zero for one that was not sent before.
type attempt struct {
	at    time.Time
	delay time.Duration
	// failure is nil if the patch succeeded.
	failure *failures.Failure
}

func newAttempts(clock clock.Clock) *attempts {
	return &attempts{
		clock:   clock,
		backoff: flowcontrol.NewFakeBackOff(failures.FirstRecheck, failures.LastRecheck, clock),
		last:    expiring.NewExpiringWithClock(clock),
	}
}

// of returns the last attempt of a patch.
func (a *attempts) of(patch string) attempt {
	last, _ := a.last.Get(patch)
	known, _ := last.(attempt)
	return known
}

// wait returns the delay of a patch since its last attempt.
func (a *attempts) wait(last attempt) time.Duration { return last.delay - a.clock.Since(last.at) }

// made records an attempt, and sets when to repeat it if it failed. A failure with the reason of the one before gets its message,
// which must not vary between retries.
func (a *attempts) made(patch string, failure *failures.Failure) {
	before := a.of(patch)
	a.collect()
	a.backoff.Next(patch, a.clock.Now())
	now := attempt{at: a.clock.Now(), delay: a.backoff.Get(patch)}
	if failure != nil {
		if before.failure != nil && before.failure.Reason == failure.Reason {
			failure.Message = before.failure.Message
		}
		failure.Recheck = now.delay
		now.failure = failures.Newf(failure.Reason, "%s", failure.Message)
	}
	a.last.Set(patch, now, 2*failures.LastRecheck)
}

// collect lets the back-off forget old patches, which it does not do by itself.
func (a *attempts) collect() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := a.clock.Now(); now.Sub(a.collected) >= failures.LastRecheck {
		a.collected = now
		a.backoff.GC()
	}
}
