/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package expectations

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
)

// at is an object with a resource version, changed by modifiers.
func at(version string, change ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "it", UID: "one", ResourceVersion: version}}
	for _, c := range change {
		c(o)
	}
	return o
}

func newWithClock(clock *testclock.FakePassiveClock, children func(metav1.Object) []metav1.Object) *Expectations {
	e := New(children)
	e.clock, e.swept = clock, clock.Now()
	return e
}

func uid(uid types.UID) func(*corev1.ConfigMap) {
	return func(o *corev1.ConfigMap) { o.UID = uid }
}

func deleting(finalizers ...string) func(*corev1.ConfigMap) {
	return func(o *corev1.ConfigMap) {
		now := metav1.Now()
		o.DeletionTimestamp, o.Finalizers = &now, finalizers
	}
}

func TestBehind_CachedVersion_IsCompared(t *testing.T) {
	cases := map[string]struct {
		reason  string
		written *corev1.ConfigMap
		age     time.Duration
		cached  *corev1.ConfigMap
		want    bool
	}{
		"NothingWritten":   {reason: "Without our own write every state is current.", cached: at("5")},
		"Older":            {reason: "The cache has the state from before the write.", written: at("10"), cached: at("9"), want: true},
		"NumbersNotText":   {reason: "9 is before 10 although it sorts after it.", written: at("100"), cached: at("99"), want: true},
		"Same":             {reason: "The write has arrived.", written: at("10"), cached: at("10")},
		"Newer":            {reason: "Another client has written since.", written: at("10"), cached: at("11")},
		"NoNumber":         {reason: "What cannot be compared must not stop anything.", written: at("10"), cached: at("abc")},
		"Recreated":        {reason: "Another object of the same name is not the one written.", written: at("10"), cached: at("9", uid("two"))},
		"TooLongAgo":       {reason: "An event that did not come for so long never will.", written: at("10"), age: Patience, cached: at("9")},
		"StillPatient":     {reason: "The event may yet come.", written: at("10"), age: Patience - time.Second, cached: at("9"), want: true},
		"LastFinalizer":    {reason: "The API server answers the removal of the last finalizer with the old version.", written: at("10", deleting()), cached: at("10", deleting("f")), want: true},
		"FinalizerRemains": {reason: "With another finalizer left the removal is an update like any other.", written: at("10", deleting("g")), cached: at("10", deleting("g"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clock := testclock.NewFakePassiveClock(time.Now())
			w := newWithClock(clock, nil)
			if tc.written != nil {
				w.Record(tc.written)
			}
			clock.SetTime(clock.Now().Add(tc.age))
			if got := w.Behind(tc.cached); got != tc.want {
				t.Errorf("Behind() = %t, want %t\nReason: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestExpectations_ObjectIsNeverAskedFor_IsForgotten(t *testing.T) {
	clock := testclock.NewFakePassiveClock(time.Now())
	e := newWithClock(clock, nil)
	e.Record(at("10"))
	clock.SetTime(clock.Now().Add(Patience))
	e.Record(at("10", uid("two")))
	if _, known := e.families["two"]; !known || len(e.families) != 1 {
		t.Errorf("what is known after %s: %v, want the last write alone", Patience, e.families)
	}
}
