/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/controller"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/reconciler"
)

func TestPassesAreCountedAndMeasuredByResult(t *testing.T) {
	failure := errors.New("no")
	returns := map[string]error{
		"ns/good": nil, "ns/skip": controller.NewSkipKey("ns/skip"), "ns/later": controller.NewRequeueAfter(time.Hour),
		"ns/bad": failure, "ns/hopeless": controller.NewPermanentError(failure),
	}
	impl, _ := newController(t, func(_ context.Context, key string) error { return returns[key] })
	kind := attributes{kindKey: kindOf(t)}
	for _, result := range results {
		of := attributes{kindKey: kindOf(t), resultKey: string(result)}
		if !known(t, "reconcile.passes", of) || measured(t, "reconcile.passes", of) != 0 {
			t.Errorf("result %s is not counted from 0", result)
		}
	}
	for key, want := range returns {
		if got := impl.Reconciler.Reconcile(t.Context(), key); !errors.Is(got, want) || (got == nil) != (want == nil) {
			t.Errorf("the pass over %s returned %v, want %v", key, got, want)
		}
	}
	for result, want := range map[Result]float64{
		ResultSuccess: 1, ResultSkip: 1, ResultRequeue: 1, ResultConflict: 0, ResultError: 1, ResultPermanentError: 1,
	} {
		of := attributes{kindKey: kindOf(t), resultKey: string(result)}
		if got := measured(t, "reconcile.passes", of); got != want {
			t.Errorf("%v passes with result %s, want %v", got, result, want)
		}
		if got := measured(t, "reconcile.duration", of); got != want {
			t.Errorf("%v measured passes with result %s, want %v", got, result, want)
		}
	}
	if got := measured(t, "reconcile.active", kind); got != 0 || !known(t, "reconcile.active", kind) {
		t.Errorf("%v passes are under way after all have ended", got)
	}
}

func TestSpanTellsKeyResultAndError(t *testing.T) {
	failure := errors.New("the target is gone")
	impl, _ := newController(t, func(ctx context.Context, key string) error {
		if !trace.SpanContextFromContext(ctx).IsSampled() {
			t.Error("the reconciler's context has no span")
		}
		if key == "ns/bad" {
			return failure
		}
		return nil
	})
	_ = impl.Reconciler.Reconcile(t.Context(), "ns/good")
	_ = impl.Reconciler.Reconcile(t.Context(), "ns/bad")
	found := spansOf(kindOf(t))
	if len(found) != 2 {
		t.Fatalf("there are %d spans, want one for each pass", len(found))
	}
	for i, want := range []struct{ key, result, status string }{{"ns/good", "success", ""}, {"ns/bad", "error", failure.Error()}} {
		span := found[i]
		key, result := attributeOf(span, "reconcile.key").AsString(), attributeOf(span, "reconcile.result").AsString()
		if key != want.key || result != want.result || span.Status().Description != want.status {
			t.Errorf("the span says %s, %s, %q; want %v", key, result, span.Status().Description, want)
		}
		if (span.Status().Code == codes.Error) != (want.status != "") {
			t.Errorf("the status of the span of %s is %v", key, span.Status().Code)
		}
	}
}

func TestRetriesAndRequeuesAreToldAsSuch(t *testing.T) {
	answers := []error{errors.New("no"), controller.NewRequeueAfter(time.Millisecond), nil}
	impl, _ := newController(t, func(context.Context, string) error {
		answer := answers[0]
		answers = answers[1:]
		return answer
	})
	for range 3 {
		_ = impl.Reconciler.Reconcile(t.Context(), "ns/a")
	}
	want := [][]string{{"other"}, {"retried"}, {"requeued"}}
	if got := causesOf(kindOf(t)); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the causes are %q, want %q", got, want)
	}
	for _, what := range []What{Other, Retried, Requeued} {
		if got := measured(t, "reconcile.wakes", attributes{kindKey: kindOf(t), causeKey: string(what)}); got != 1 {
			t.Errorf("%v wakes of cause %s, want 1", got, what)
		}
	}
}

func TestAMalformedKeyIsAnError(t *testing.T) {
	impl, _ := newController(t, nil)
	if err := impl.Reconciler.Reconcile(t.Context(), "a/b/c"); err == nil || !strings.Contains(err.Error(), `"a/b/c"`) {
		t.Errorf("got error %v", err)
	}
}

// bucket is a lease that covers one object.
type bucket struct{ name, covers string }

func (b bucket) Name() string                      { return b.name }
func (b bucket) Has(key types.NamespacedName) bool { return key.Name == b.covers }

func TestLeadershipIsPassedOnAndTold(t *testing.T) {
	impl, _ := newController(t, nil)
	inner := impl.Reconciler.(*observedLeader).leader.(*leader)
	var demoted []string
	inner.PromoteFunc = func(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(b, named("a"))
		enqueue(b, named("b"))
		return errors.New("promoted")
	}
	inner.DemoteFunc = func(b reconciler.Bucket) { demoted = append(demoted, b.Name()) }
	aware := impl.Reconciler.(reconciler.LeaderAware)
	lease := bucket{name: "lease-1", covers: "a"}
	held := attributes{kindKey: kindOf(t), leaseKey: lease.name}

	if err := aware.Promote(lease, impl.MaybeEnqueueBucketKey); err == nil || err.Error() != "promoted" {
		t.Errorf("the reconciler's own verdict becomes %v", err)
	}
	if got := measured(t, "leader.held", held); got != 1 || !inner.IsLeaderFor(named("a")) {
		t.Errorf("after the promotion the metric is %v", got)
	}
	aware.Demote(lease)
	if got := measured(t, "leader.held", held); got != 0 || inner.IsLeaderFor(named("a")) || !slices.Equal(demoted, []string{lease.name}) {
		t.Errorf("after the demotion the metric is %v, demoted were %q", got, demoted)
	}
	if keys := pass(t, impl); !slices.Equal(keys, []string{"ns/a"}) {
		t.Errorf("woken are %q, want what the lease covers", keys)
	}
	if got := causesOf(kindOf(t)); len(got) != 1 || !slices.Equal(got[0], []string{"promoted"}) {
		t.Errorf("the causes are %q", got)
	}

	// Without election the one bucket has no name, and nothing is to be enqueued.
	inner.PromoteFunc = func(reconciler.Bucket, func(reconciler.Bucket, types.NamespacedName)) error {
		t.Error("called without a function to enqueue")
		return nil
	}
	if err := aware.Promote(reconciler.UniversalBucket(), nil); err != nil {
		t.Error(err)
	}
	if got := measured(t, "leader.held", attributes{kindKey: kindOf(t), leaseKey: "none"}); got != 1 {
		t.Errorf("without election the metric is %v", got)
	}
}

// plain is a reconciler that is nothing else.
type plain struct{}

func (plain) Reconcile(context.Context, string) error { return nil }

func TestAWrappedReconcilerIsStillLeaderAware(t *testing.T) {
	for name, tc := range map[string]struct {
		inner controller.Reconciler
		leads bool
	}{
		"nothing else": {plain{}, false},
		"leader-aware": {&leader{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := logtesting.TestContextWithLogger(t)
			impl := controller.NewContext(ctx, tc.inner, controller.ControllerOptions{WorkQueueName: kindOf(t), Logger: logtesting.TestLogger(t)})
			Instrument(ctx, impl, kindOf(t))
			if _, leads := impl.Reconciler.(reconciler.LeaderAware); leads != tc.leads {
				t.Errorf("it is leader-aware: %t", leads)
			}
		})
	}
}

func TestComplete_InstrumentsOnce(t *testing.T) {
	ctx := logtesting.TestContextWithLogger(t)
	for name, already := range map[string]bool{"plain": false, "already": true} {
		t.Run(name, func(t *testing.T) {
			impl := controller.NewContext(ctx, &leader{}, controller.ControllerOptions{WorkQueueName: kindOf(t), Logger: logtesting.TestLogger(t)})
			if already {
				Instrument(ctx, impl, "Inner")
			}
			Complete(ctx, impl)
			wrapper, ok := impl.Reconciler.(*observedLeader)
			if !ok {
				t.Fatal("it is not instrumented")
			}
			want := kindOf(t)
			if already {
				want = "Inner"
			}
			if _, isInner := wrapper.leader.(*leader); !isInner || wrapper.wakes.kind != want {
				t.Errorf("it is instrumented as %s, around a %T", wrapper.wakes.kind, wrapper.leader)
			}
		})
	}
}
