/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package problem

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/controller"
)

var errInduced = errors.New("induced")

func TestOutcomeSaysWhatIsNext(t *testing.T) {
	watched := Newf("R", "%d", 1)
	soon, later := &Problem{Recheck: time.Second}, &Problem{Recheck: time.Minute}
	failure := Failed("R", errInduced)
	for name, tc := range map[string]struct {
		reason   string
		problems []*Problem
		after    time.Duration
		err      error
	}{
		"NoSteps":         {reason: "Nothing is left to do."},
		"None":            {reason: "Nothing is left to do.", problems: []*Problem{nil, nil}},
		"Watched":         {reason: "The change wakes the object.", problems: []*Problem{watched, nil}},
		"Recheck":         {reason: "Nothing else would wake the object.", problems: []*Problem{nil, watched, later}, after: time.Minute},
		"EarliestRecheck": {reason: "Both are looked at then.", problems: []*Problem{later, soon, later}, after: time.Second},
		"Error":           {reason: "The queue retries.", problems: []*Problem{nil, failure}, err: errInduced},
		"ErrorBeatsAll":   {reason: "Its back-off starts earlier.", problems: []*Problem{watched, soon, failure}, err: errInduced},
		"FirstError":      {reason: "The earlier step's is nearer to the cause.", problems: []*Problem{failure, Failed("S", errors.ErrUnsupported)}, err: errInduced},
	} {
		t.Run(name, func(t *testing.T) {
			got := Outcome(tc.problems...)
			if tc.after > 0 {
				if requeue, after := controller.IsRequeueKey(got); !requeue || after != tc.after {
					t.Errorf("Outcome() = %v, want another look after %s\nReason: %s", got, tc.after, tc.reason)
				}
				return
			}
			if !errors.Is(got, tc.err) {
				t.Errorf("Outcome() = %v, want %v\nReason: %s", got, tc.err, tc.reason)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	if p := Newf("R", "%s has no %q", "it", "name"); p.Reason != "R" || p.Message != `it has no "name"` {
		t.Errorf("Newf() = %+v", p)
	}
	if p := Failed("R", errInduced); p.Reason != "R" || p.Message != "induced" {
		t.Errorf("Failed() = %+v", p)
	}
}

func TestAProblemThatLastsIsLookedAtLessOften(t *testing.T) {
	since := func(ago time.Duration, reason string) *apis.Condition {
		return &apis.Condition{
			Status: corev1.ConditionFalse, Reason: reason,
			LastTransitionTime: apis.VolatileTime{Inner: metav1.NewTime(time.Now().Add(-ago))},
		}
	}
	other := since(time.Hour, "Forbidden")
	other.Status = corev1.ConditionUnknown
	for name, test := range map[string]struct {
		last     *apis.Condition
		min, max time.Duration
	}{
		"new":                    {nil, FirstRecheck, FirstRecheck},
		"another problem before": {since(time.Hour, "NotFound"), FirstRecheck, FirstRecheck},
		"not known before":       {other, FirstRecheck, FirstRecheck},
		"a moment":               {since(time.Millisecond, "Forbidden"), FirstRecheck, FirstRecheck},
		// The clock goes on while the test runs.
		"five seconds": {since(5*time.Second, "Forbidden"), 5 * time.Second, 15 * time.Second},
		"an hour":      {since(time.Hour, "Forbidden"), LastRecheck, LastRecheck},
	} {
		t.Run(name, func(t *testing.T) {
			if got := RecheckAfter(Lasted(test.last, "Forbidden")); got < test.min || got > test.max {
				t.Errorf("looked at again after %s, want %s to %s", got, test.min, test.max)
			}
		})
	}
}
