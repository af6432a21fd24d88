/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
)

func newFailures() (*Failures, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Unix(1000, 0))
	return NewWithClock(clock), clock
}

func object(name string) *duckv1.KResource {
	return &duckv1.KResource{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: "1", Generation: 1}}
}

// after returns the delay of a requeue.
func after(t *testing.T, err error) time.Duration {
	t.Helper()
	requeue, delay := controller.IsRequeueKey(err)
	if !requeue {
		t.Fatalf("the result is %v, want a requeue", err)
	}
	return delay
}

func TestOutcome_Failures_DecideWhatHappensNext(t *testing.T) {
	watched := Newf("R", "%d", 1)
	soon, later := &Failure{Recheck: time.Second}, &Failure{Recheck: time.Minute}
	failure := Failed("R", errInduced)
	for name, tc := range map[string]struct {
		reason   string
		problems []*Failure
		after    time.Duration
		err      error
	}{
		"NoSteps":         {reason: "Nothing is left to do."},
		"None":            {reason: "Nothing is left to do.", problems: []*Failure{nil, nil}},
		"Watched":         {reason: "The event enqueues the object.", problems: []*Failure{watched, nil}},
		"Recheck":         {reason: "No event enqueues the object.", problems: []*Failure{nil, watched, later}, after: time.Minute},
		"EarliestRecheck": {reason: "Both are checked then.", problems: []*Failure{later, soon, later}, after: time.Second},
		"Failure":         {reason: "It is retried.", problems: []*Failure{nil, failure}, err: errInduced, after: FirstRecheck},
		"FailureAndRecheck": {
			reason: "The back-off counts.", problems: []*Failure{watched, {Recheck: time.Millisecond}, failure}, err: errInduced, after: FirstRecheck,
		},
		"FirstFailure": {
			reason: "The earlier step's is nearer to the cause.", problems: []*Failure{failure, Failed("S", errors.ErrUnsupported)},
			err: errInduced, after: FirstRecheck,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := newFailures()
			got := f.Outcome(object("a"), tc.problems...)
			if tc.err != nil && !errors.Is(got, tc.err) || IsRetry(got) != (tc.err != nil) {
				t.Errorf("Outcome() = %v, want %v\nReason: %s", got, tc.err, tc.reason)
			}
			if tc.after == 0 && got != nil {
				t.Errorf("Outcome() = %v, want nil\nReason: %s", got, tc.reason)
			} else if tc.after > 0 && after(t, got) != tc.after {
				t.Errorf("Outcome() = %v, want a requeue after %s\nReason: %s", got, tc.after, tc.reason)
			}
		})
	}
}

func TestOutcome_FailureLasts_BacksOffExponentially(t *testing.T) {
	throttled := apierrors.NewTooManyRequests("slow down", 45)
	for name, tc := range map[string]struct {
		err     error
		seconds []float64
	}{
		"Response":   {errInternal, []float64{1, 2, 4, 8, 16, 30, 30}},
		"NoResponse": {errInduced, []float64{1, 2, 4, 8, 16, 30, 30}},
		"Conflict":   {errConflict, []float64{0.1, 2, 4}},
		"RetryAfter": {throttled, []float64{45, 45}},
		"Wrapped":    {fmt.Errorf("creating: %w", throttled), []float64{45, 45}},
	} {
		t.Run(name, func(t *testing.T) {
			f, clock := newFailures()
			for i, seconds := range tc.seconds {
				want := time.Duration(seconds * float64(time.Second))
				if got := after(t, f.Outcome(object("a"), Failed("R", tc.err))); got != want {
					t.Fatalf("retry %d is after %s, want %s", i, got, want)
				}
				clock.Step(want)
			}
			if got := after(t, f.Outcome(object("b"), Failed("R", errInternal))); got != FirstRecheck {
				t.Errorf("another object is retried after %s, want %s", got, FirstRecheck)
			}
		})
	}
}

// The queue's limiter delays a single object up to 1000 s, and shares 10 retries per second among all of them.
func TestOutcome_ManyObjectsFail_AnotherIsRetriedAtOnce(t *testing.T) {
	f, _ := newFailures()
	for i := range 10_000 {
		_ = f.Outcome(object(strconv.Itoa(i)), Failed("R", errInternal))
	}
	if got := after(t, f.Outcome(object("another"), Failed("R", errInternal))); got != FirstRecheck {
		t.Errorf("it is retried after %s, want %s", got, FirstRecheck)
	}
}

func TestOutcome_MessageVaries_ConditionKeepsItsMessage(t *testing.T) {
	const failing, other = apis.ConditionType("Failing"), apis.ConditionType("Other")
	f, clock := newFailures()
	n := 0
	// reconcile returns the messages that the conditions are left with.
	reconcile := func(o *duckv1.KResource, reason string, problems ...*Failure) []string {
		n++
		text := fmt.Sprintf("attempt %d", n)
		o.Status.Conditions = duckv1.Conditions{
			{Type: failing, Status: corev1.ConditionFalse, Reason: reason, Message: text},
			{Type: other, Status: corev1.ConditionFalse, Reason: "Watched", Message: text},
		}
		_ = f.Outcome(o, problems...)
		return []string{o.Status.GetCondition(failing).Message, o.Status.GetCondition(other).Message}
	}
	expect := func(why string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: the messages are %q, want %q", why, got, want)
		}
	}
	o, failure := object("a"), Failed("Failed", errInternal)
	expect("first failure", reconcile(o, "Failed", failure), "attempt 1", "attempt 1")
	expect("retry", reconcile(o, "Failed", failure), "attempt 1", "attempt 2")
	expect("another reason", reconcile(o, "Other", Failed("Other", errInternal)), "attempt 3", "attempt 3")
	expect("its retry", reconcile(o, "Other", Failed("Other", errInternal)), "attempt 3", "attempt 4")
	o.Generation++
	expect("new spec", reconcile(o, "Other", Failed("Other", errInternal)), "attempt 5", "attempt 5")
	clock.Step(steadyFor)
	expect("outdated", reconcile(o, "Other", Failed("Other", errInternal)), "attempt 6", "attempt 6")
	expect("no failure", reconcile(o, "Other"), "attempt 7", "attempt 7")
	o.UID = "2"
	expect("re-created", reconcile(o, "Other", Failed("Other", errInternal)), "attempt 8", "attempt 8")
	expect("another object", reconcile(object("b"), "Other", Failed("Other", errInternal)), "attempt 9", "attempt 9")
}
