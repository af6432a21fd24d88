/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package problem

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestEachTroubleIsLookedAtEverLessOften(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	troubles := NewTroublesWithClock(clock)
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
	for i, seconds := range []int{1, 1, 2, 4, 8, 16, 30, 30} {
		want := time.Duration(seconds) * time.Second
		after := troubles.RecheckAfter(object, "One")
		// Another one beside it, which is told instead, does not begin it anew.
		if other := troubles.RecheckAfter(object, "Other"); after != want || other != want {
			t.Errorf("pass %d: they are looked at again after %s and %s, want %s", i, after, other, want)
		}
		clock.SetTime(clock.Now().Add(want))
	}
	if got := troubles.Lasted(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "b"}}, "One"); got != 0 {
		t.Errorf("that of another object has lasted for %s", got)
	}
	clock.SetTime(clock.Now().Add(2 * LastRecheck))
	if got := troubles.RecheckAfter(object, "One"); got != FirstRecheck {
		t.Errorf("after it had ended it is looked at again after %s, want %s", got, FirstRecheck)
	}
}
