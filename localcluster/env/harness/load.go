/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// Load is something that is done again and again until the test stops it.
type Load struct {
	cancel context.CancelFunc
	ended  chan struct{}

	mu       sync.Mutex
	did      []int
	failures []error
}

// Every does something once a period, with a number that counts from 0: one after the other, so that what takes longer than
// a period slows the load down. It begins at once, and ends with the test if not before.
func Every(t testing.TB, period time.Duration, do func(ctx context.Context, n int) error) *Load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &Load{cancel: cancel, ended: make(chan struct{})}
	// A request that was sent has to finish, or its result would be unknown.
	undisturbed := context.WithoutCancel(ctx)
	go func() {
		defer close(l.ended)
		ticks := time.NewTicker(period)
		defer ticks.Stop()
		for n := 0; ; n++ {
			l.note(n, do(undisturbed, n))
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() { l.Stop() })
	return l
}

func (l *Load) note(n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures = append(l.failures, fmt.Errorf("number %d, %s: %w", n, time.Now().Format(time.StampMilli), err))
		return
	}
	l.did = append(l.did, n)
}

// Done returns the number of calls that have finished so far.
func (l *Load) Done() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.did)
}

// Stop ends the load and returns the numbers of what was done, and what failed.
func (l *Load) Stop() (did []int, failures []error) {
	l.cancel()
	<-l.ended
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.did, l.failures
}
