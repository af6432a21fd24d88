/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clocktesting "k8s.io/utils/clock/testing"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

// guard calls a generated reconciler, whose results a test sets, as package observe does.
type guard struct {
	failures *Failures
	result   func(key string) error
	calls    int
	enqueued sets.Set[types.NamespacedName]
}

func (g *guard) Reconcile(key string) error {
	namespace, name, _ := strings.Cut(key, "/")
	object := types.NamespacedName{Namespace: namespace, Name: name}
	if wait := g.failures.Wait(object); wait > 0 {
		return controller.NewRequeueAfter(wait)
	}
	g.calls++
	released, event := g.failures.Result(object, g.result(key))
	g.enqueued.Insert(released...)
	return event
}

func guarded(result func(key string) error) (*guard, *Failures, *clocktesting.FakeClock) {
	f, clock := newFailures()
	return &guard{failures: f, result: result, enqueued: sets.New[types.NamespacedName]()}, f, clock
}

func TestResult_GeneratedReconcilerFails_BacksOffUntilItSucceeds(t *testing.T) {
	result := error(errInternal)
	guard, f, clock := guarded(func(string) error { return result })
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		err := guard.Reconcile("ns/a")
		if got := after(t, err); got != want || !IsRetry(err) {
			t.Fatalf("it is retried after %s, want %s", got, want)
		}
		clock.Step(want)
	}
	for _, success := range []error{nil, controller.NewSkipKey("ns/a"), controller.NewRequeueAfter(time.Minute)} {
		result = success
		if err := guard.Reconcile("ns/a"); err != success { //nolint:errorlint // it is passed on as it is
			t.Fatalf("a success ends with %v, want %v", err, success)
		}
		if len(f.objects) != 0 {
			t.Errorf("after %v, %v is remembered", success, f.objects)
		}
		result = errInternal
		if got := after(t, guard.Reconcile("ns/a")); got != FirstRecheck {
			t.Errorf("after %v, the back-off begins with %s, want %s", success, got, FirstRecheck)
		}
		clock.Step(FirstRecheck)
	}
}

func TestResult_ResultOfOutcome_IsPassedOn(t *testing.T) {
	var f *Failures
	guard, f, clock := guarded(func(string) error { return f.Outcome(object("a"), Failed("R", errInternal)) })
	for _, want := range []time.Duration{time.Second, 2 * time.Second} {
		if got := after(t, guard.Reconcile("ns/a")); got != want {
			t.Errorf("it is retried after %s, want %s", got, want)
		}
		clock.Step(want)
	}
}

// Each status update enqueues the object, and so does any change of an object that it refers to.
func TestWait_FailingObjectIsEnqueued_IsNotReconciledMoreThanOnceASecond(t *testing.T) {
	guard, _, clock := guarded(func(string) error { return errInternal })
	for range 3 {
		_ = guard.Reconcile("ns/a")
		clock.Step(100 * time.Millisecond)
		if got := after(t, guard.Reconcile("ns/a")); got != 900*time.Millisecond {
			t.Errorf("it is reconciled after %s, want 900ms", got)
		}
		clock.Step(900 * time.Millisecond)
	}
	if guard.calls != 3 {
		t.Errorf("it was reconciled %d times, want 3", guard.calls)
	}
}

func TestResult_OneNamespaceIsRefused_ItsRetriesArePaced(t *testing.T) {
	const objects = 1000
	guard, _, clock := guarded(func(key string) error {
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
				due[key] = clock.Now().Add(after(t, guard.Reconcile(key)))
			}
		}
		if second == 1800 {
			last = guard.calls
		}
		clock.Step(time.Second)
	}
	if rate := float64(guard.calls-last) / 1800; rate > 2.5 {
		t.Errorf("%d rejected objects are retried %.1f times a second", objects, rate)
	}
	if wait := due["other/a"].Sub(clock.Now()); wait > LastRecheck {
		t.Errorf("the object of another namespace waits for %s", wait)
	}
}

func TestResult_CauseOfRefusalsEnds_AllObjectsAreEnqueued(t *testing.T) {
	const objects = 1000
	reject := true
	guard, f, clock := guarded(func(string) error {
		if reject {
			return errForbidden
		}
		return nil
	})
	for i := range objects {
		_ = guard.Reconcile(fmt.Sprintf("ns/%d", i))
	}
	clock.Step(time.Minute)
	reject = false
	guard.enqueued.Insert(types.NamespacedName{Namespace: "ns", Name: "0"})
	reconciled := 0
	for {
		key, ok := guard.enqueued.PopAny()
		if !ok {
			break
		}
		reconciled++
		_ = guard.Reconcile(key.String())
	}
	if reconciled != objects || len(f.objects) != 0 || len(f.rejected) != 0 {
		t.Errorf("%d of %d objects were reconciled, %d are remembered", reconciled, objects, len(f.objects))
	}
}

func TestForget_Bucket_ForgetsItsObjects(t *testing.T) {
	guard, f, _ := guarded(func(string) error { return errForbidden })
	_ = guard.Reconcile("ns/a")
	f.Forget(reconciler.UniversalBucket().Has)
	if len(f.objects) != 0 || len(f.rejected) != 0 {
		t.Errorf("%d objects are remembered", len(f.objects))
	}
}
