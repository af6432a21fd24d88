/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package since

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestAFactLastsFromWhenItWasFirstNoted(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	m := NewWithClock[string](10*time.Second, clock)
	for i, step := range []struct {
		reason string
		after  time.Duration
		key    string
		forget bool
		want   time.Duration
	}{
		{reason: "It is new.", key: "a", want: 0},
		{reason: "It is noted once more.", after: 3 * time.Second, key: "a", want: 3 * time.Second},
		{reason: "Another is new.", key: "b", want: 0},
		{reason: "What is noted often enough lasts for ever.", after: 9 * time.Second, key: "a", want: 12 * time.Second},
		{reason: "It was forgotten.", key: "a", forget: true, want: 0},
		{reason: "The other was not.", key: "b", want: 9 * time.Second},
		{reason: "It was not noted for so long that it has ended.", after: 10 * time.Second, key: "a", want: 0},
	} {
		clock.SetTime(clock.Now().Add(step.after))
		if step.forget {
			m.Forget(step.key)
		}
		if got := m.Lasted(step.key); got != step.want {
			t.Errorf("step %d: %s has lasted for %s, want %s: %s", i, step.key, got, step.want, step.reason)
		}
	}
}

func TestFactsThatHaveEndedAreDropped(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	m := NewWithClock[int](10*time.Second, clock)
	for i := range fewest {
		m.Lasted(i)
	}
	clock.SetTime(clock.Now().Add(10 * time.Second))
	m.Lasted(-1)
	if len(m.facts) != 1 {
		t.Errorf("%d facts are remembered, want 1", len(m.facts))
	}
	for i := range 3 * fewest {
		m.Lasted(i)
	}
	if got := len(m.facts); got != 3*fewest+1 {
		t.Errorf("%d facts are remembered, want all %d that last", got, 3*fewest+1)
	}
}
