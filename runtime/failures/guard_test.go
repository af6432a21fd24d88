/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clocktesting "k8s.io/utils/clock/testing"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/runtime/expectations"
)

// scripted is a generated reconciler whose results a test sets.
type scripted struct {
	reconciler.LeaderAwareFuncs

	result func(key string) error
	calls  int
}

func (s *scripted) Reconcile(_ context.Context, key string) error {
	s.calls++
	return s.result(key)
}

func guarded(result func(key string) error) (guard expectations.LeaderAware, inner *scripted, f *Failures, clock *clocktesting.FakeClock,
	enqueued sets.Set[types.NamespacedName],
) {
	f, clock = newFailures()
	inner = &scripted{result: result}
	enqueued = sets.New[types.NamespacedName]()
	return f.Guard(inner, func(key types.NamespacedName) { enqueued.Insert(key) }), inner, f, clock, enqueued
}

func TestGuard_GeneratedReconcilerFails_BacksOffUntilItSucceeds(t *testing.T) {
	result := error(errInternal)
	guard, _, f, clock, _ := guarded(func(string) error { return result })
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		err := guard.Reconcile(t.Context(), "ns/a")
		if got := after(t, err); got != want || !IsRetry(err) {
			t.Fatalf("it is retried after %s, want %s", got, want)
		}
		clock.Step(want)
	}
	for _, success := range []error{nil, controller.NewSkipKey("ns/a"), controller.NewRequeueAfter(time.Minute)} {
		result = success
		if err := guard.Reconcile(t.Context(), "ns/a"); err != success { //nolint:errorlint // it is passed on as it is
			t.Fatalf("a success ends with %v, want %v", err, success)
		}
		if len(f.objects) != 0 || f.backoff.Get("ns/a") != 0 {
			t.Errorf("after %v, %v is remembered", success, f.objects)
		}
		result = errInternal
		if got := after(t, guard.Reconcile(t.Context(), "ns/a")); got != FirstRecheck {
			t.Errorf("after %v, the back-off begins with %s, want %s", success, got, FirstRecheck)
		}
		clock.Step(FirstRecheck)
	}
}

func TestGuard_ResultOfOutcome_IsPassedOn(t *testing.T) {
	var f *Failures
	guard, _, f, clock, _ := guarded(func(string) error { return f.Outcome(object("a"), Failed("R", errInternal)) })
	for _, want := range []time.Duration{time.Second, 2 * time.Second} {
		if got := after(t, guard.Reconcile(t.Context(), "ns/a")); got != want {
			t.Errorf("it is retried after %s, want %s", got, want)
		}
		clock.Step(want)
	}
}

// Each status update enqueues the object, and so does any change of an object that it refers to.
func TestGuard_FailingObjectIsEnqueued_IsNotReconciledMoreThanOnceASecond(t *testing.T) {
	guard, inner, _, clock, _ := guarded(func(string) error { return errInternal })
	for range 3 {
		_ = guard.Reconcile(t.Context(), "ns/a")
		clock.Step(100 * time.Millisecond)
		if got := after(t, guard.Reconcile(t.Context(), "ns/a")); got != 900*time.Millisecond {
			t.Errorf("it is reconciled after %s, want 900ms", got)
		}
		clock.Step(900 * time.Millisecond)
	}
	if inner.calls != 3 {
		t.Errorf("it was reconciled %d times, want 3", inner.calls)
	}
}

func TestGuard_OneNamespaceIsRefused_ItsRetriesArePaced(t *testing.T) {
	const objects = 1000
	guard, inner, _, clock, _ := guarded(func(key string) error {
		if key == "other/a" {
			return errInternal
		}
		return errForbidden
	})
	// A queue that knows nothing but delays.
	due := map[string]time.Time{"other/a": clock.Now()}
	for i := range objects {
		due[fmt.Sprintf("ns/%d", i)] = clock.Now()
	}
	var last int
	for second := range 3600 {
		for key, at := range due {
			if !at.After(clock.Now()) {
				due[key] = clock.Now().Add(after(t, guard.Reconcile(t.Context(), key)))
			}
		}
		if second == 1800 {
			last = inner.calls
		}
		clock.Step(time.Second)
	}
	if rate := float64(inner.calls-last) / 1800; rate > 2.5 {
		t.Errorf("%d refused objects are retried %.1f times a second", objects, rate)
	}
	if wait := due["other/a"].Sub(clock.Now()); wait > LastRecheck {
		t.Errorf("the object of another namespace waits for %s", wait)
	}
}

func TestGuard_CauseOfRefusalsEnds_AllObjectsAreEnqueued(t *testing.T) {
	const objects = 1000
	refuse := true
	guard, _, f, clock, enqueued := guarded(func(string) error {
		if refuse {
			return errForbidden
		}
		return nil
	})
	for i := range objects {
		_ = guard.Reconcile(t.Context(), fmt.Sprintf("ns/%d", i))
	}
	clock.Step(time.Minute)
	refuse = false
	enqueued.Insert(types.NamespacedName{Namespace: "ns", Name: "0"})
	reconciled := 0
	for {
		key, ok := enqueued.PopAny()
		if !ok {
			break
		}
		reconciled++
		_ = guard.Reconcile(t.Context(), key.String())
	}
	if reconciled != objects || len(f.objects) != 0 || len(f.refused) != 0 {
		t.Errorf("%d of %d objects were reconciled, %d are remembered", reconciled, objects, len(f.objects))
	}
}

func TestGuard_Demoted_ForgetsItsObjects(t *testing.T) {
	guard, _, f, _, _ := guarded(func(string) error { return errForbidden }) //nolint:dogsled // the rest is for other tests
	_ = guard.Reconcile(t.Context(), "ns/a")
	guard.Demote(reconciler.UniversalBucket())
	if len(f.objects) != 0 || len(f.refused) != 0 {
		t.Errorf("%d objects are remembered", len(f.objects))
	}
}
