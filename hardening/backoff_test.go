/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"knative.dev/pkg/controller"
)

var (
	one         = types.NamespacedName{Namespace: "default", Name: "one"}
	configMaps  = schema.GroupResource{Resource: "configmaps"}
	errConflict = apierrors.NewConflict(configMaps, "one", errors.New("changed"))
)

func newTestBackoff() (*backOff, *clocktesting.FakeClock) {
	clock := clocktesting.NewFakeClock(time.Now())
	return newBackoff(clock), clock
}

func TestBackoff_Failures_GrowToThirtySecondsAndEndWithASuccess(t *testing.T) {
	b, clock := newTestBackoff()
	var delays []time.Duration
	for range 7 {
		failed, event := b.result(one, errors.New("down"))
		requeued, delay := controller.IsRequeueKey(event)
		if !requeued || !failed {
			t.Fatalf("result() = %v, %t", event, failed)
		}
		delays = append(delays, delay)
		if wait := b.wait(one); wait <= 0 || wait > firstDelay {
			t.Errorf("an event is held back for %v, want at most a second", wait)
		}
		clock.Step(delay)
	}
	if want := "[1s 2s 4s 8s 16s 30s 30s]"; fmt.Sprint(delays) != want {
		t.Errorf("delays: %v, want %s", delays, want)
	}
	if failed, event := b.result(one, nil); event != nil || failed || b.wait(one) > 0 || len(b.failing) > 0 {
		t.Errorf("after a success: %v, %t", event, failed)
	}
}

func TestBackoff_Results_AreRepeatedAndLoggedAsTheirKind(t *testing.T) {
	for name, tc := range map[string]struct {
		err    error
		delay  time.Duration // 0 if the result is passed on
		failed bool
	}{
		"Success":       {},
		"Skip":          {err: controller.NewSkipKey("default/one")},
		"Requeue":       {err: controller.NewRequeueAfter(time.Minute), delay: time.Minute},
		"FailedRequeue": {err: fmt.Errorf("%w; %w", errors.New("down"), controller.NewRequeueAfter(time.Minute)), delay: firstDelay, failed: true},
		"Permanent":     {err: controller.NewPermanentError(errors.New("never"))},
		"Conflict":      {err: errConflict, delay: conflictDelay},
		"RetryAfter":    {err: apierrors.NewTooManyRequests("busy", 7), delay: 7 * time.Second, failed: true},
		"Gone":          {err: apierrors.NewNotFound(configMaps, "one"), delay: firstDelay},
		"Failure":       {err: errors.New("down"), delay: firstDelay, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := newTestBackoff()
			failed, event := b.result(one, tc.err)
			if _, delay := controller.IsRequeueKey(event); delay != tc.delay || failed != tc.failed || !errors.Is(event, tc.err) {
				t.Errorf("result() = %v, %t, want a delay of %v, %t", event, failed, tc.delay, tc.failed)
			}
		})
	}
}

// After a lease is lost, the retry of an object is skipped.
func TestBackoff_SkippedKey_IsForgotten(t *testing.T) {
	b, _ := newTestBackoff()
	_, _ = b.result(one, errors.New("down"))
	_, _ = b.result(one, controller.NewSkipKey(one.String()))
	if b.wait(one) > 0 || len(b.failing) > 0 {
		t.Error("the back-off of an earlier term is in force")
	}
}
