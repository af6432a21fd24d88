/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/freshness"
)

func version(v string) func(*duckv1.WithPod) {
	return func(d *duckv1.WithPod) { d.ResourceVersion = v }
}

func TestWhatWasWrittenCountsUntilTheCacheHasIt(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	w := newWritten()
	w.clock = clock
	ours := live(version("5"))
	w.record(deploymentsVersion, ours, "x")
	for name, tc := range map[string]struct {
		cached *duckv1.WithPod
		after  time.Duration
		isOurs bool
	}{
		"older":                     {live(version("4")), 0, true},
		"the same":                  {live(version("5")), 0, false},
		"newer":                     {live(version("10")), 0, false},
		"of another object":         {live(version("4"), func(d *duckv1.WithPod) { d.UID = "other" }), 0, false},
		"of another name":           {live(version("4"), func(d *duckv1.WithPod) { d.Name = "other" }), 0, false},
		"without a version":         {live(version("x")), 0, false},
		"older, and the event lost": {live(version("4")), freshness.Patience, false},
	} {
		t.Run(name, func(t *testing.T) {
			clock.SetTime(time.Unix(1000, 0).Add(tc.after))
			if got := w.newest(deploymentsVersion, tc.cached); (got == ours) != tc.isOurs || !tc.isOurs && got != tc.cached {
				t.Errorf("newest() = %+v", got)
			}
			clock.SetTime(time.Unix(1000, 0))
		})
	}
}

func TestWhoUndoesAChangeWaitsForItEverLonger(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	w := newWritten()
	w.clock = clock
	d := live()
	for i, seconds := range []int{0, 1, 2, 4, 8, 16, 30, 30} {
		want := time.Duration(seconds) * time.Second
		if got := w.pause(deploymentsVersion, d, "x"); got != want {
			t.Errorf("the pause before change %d is %s, want %s", i, got, want)
		}
		if got := w.pause(deploymentsVersion, d, "y"); got != 0 {
			t.Errorf("the pause before another change is %s", got)
		}
		clock.SetTime(clock.Now().Add(want))
		w.record(deploymentsVersion, d, "x")
	}
	if got := w.pause(deploymentsVersion, live(func(d *duckv1.WithPod) { d.UID = "new" }), "x"); got != 0 {
		t.Errorf("the pause before a change of a new object is %s", got)
	}
	// It was left alone for long enough.
	clock.SetTime(clock.Now().Add(2 * lastPause))
	if got := w.pause(deploymentsVersion, d, "x"); got != 0 {
		t.Errorf("the pause is %s after a long time", got)
	}
	w.record(deploymentsVersion, d, "x")
	if got := w.pause(deploymentsVersion, d, "x"); got != firstPause {
		t.Errorf("the first pause then is %s, want %s", got, firstPause)
	}
}

func TestOldWritesAreForgotten(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	w := newWritten()
	w.clock, w.full = clock, 1
	w.record(deploymentsVersion, live(), "x")
	clock.SetTime(clock.Now().Add(2*lastPause + 1))
	w.record(deploymentsVersion, live(func(d *duckv1.WithPod) { d.Name = "e" }), "x")
	if len(w.last) != 1 || w.full != fewest {
		t.Errorf("%d writes are remembered, and the next look is at %d", len(w.last), w.full)
	}
}
