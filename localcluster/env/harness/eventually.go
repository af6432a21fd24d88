/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

const (
	// Deadline bounds every wait that names no other. It is long because a machine may be busy with other suites and builds; a wait
	// that succeeds returns at once.
	Deadline = 2 * time.Minute

	firstPause, longestPause = 10 * time.Millisecond, 250 * time.Millisecond
	// longestPauseAfterSlowCheck bounds the pause after a check that took long itself.
	longestPauseAfterSlowCheck = 2 * time.Second
)

// Eventually calls check until it returns nil. When that does not happen within the Deadline the test fails with what was
// waited for and the last error.
func Eventually(t testing.TB, what string, check func(context.Context) error) {
	t.Helper()
	EventuallyWithin(t, Deadline, what, check)
}

// EventuallyWithin is Eventually with another deadline.
func EventuallyWithin(t testing.TB, within time.Duration, what string, check func(context.Context) error) {
	t.Helper()
	if err := eventually(t.Context(), within, check); err != nil {
		t.Fatalf("waited %v for: %s\nlast seen: %v", within, what, err)
	}
}

func eventually(ctx context.Context, within time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	last := errors.New("nothing: the first look did not end")
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		started := time.Now()
		err := check(ctx)
		if err == nil {
			return nil
		}
		// The result of a check that the deadline interrupted is useless.
		if ctx.Err() == nil {
			last = err
		}
		// A check that takes long, such as a list of thousands of objects, would slow down what it waits for.
		timer := time.NewTimer(max(pause, min(2*time.Since(started), longestPauseAfterSlowCheck)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w (%w)", last, context.Cause(ctx))
		}
	}
}
