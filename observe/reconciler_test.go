/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	metering "github.com/mallard-dev/mallard/test/measured"
)

// guarded is a controller like those of generated reconcilers, the cache of its objects, and the keys that were reconciled.
func guarded(t *testing.T, result func() error) (impl *controller.Impl, objects cache.Store, guards Guards, reconciled *[]string) {
	t.Helper()
	objects = cache.NewStore(cache.MetaNamespaceKeyFunc)
	guards = Guards{Expectations: expectations.New(nil), Failures: failures.New()}
	reconciled = new([]string)
	impl, triggers := newController(t, func(_ context.Context, key string) error {
		*reconciled = append(*reconciled, key)
		return result()
	}, guards)
	triggers.objects = objects
	return impl, objects, guards, reconciled
}

func succeed() error { return nil }

func TestWire_CacheIsBehind_ReconciliationIsPostponed(t *testing.T) {
	impl, objects, guards, reconciled := guarded(t, succeed)
	if err := objects.Add(thing("a", "9")); err != nil {
		t.Fatal(err)
	}
	guards.Expectations.Record(thing("a", "10"))
	if ok, after := controller.IsRequeueKey(impl.Reconciler.Reconcile(t.Context(), "ns/a")); !ok || after != expectations.Patience {
		t.Errorf("a postponed reconciliation should be repeated after %v, not %v (%t)", expectations.Patience, after, ok)
	}
	if len(*reconciled) != 0 {
		t.Error("the object was reconciled although the cache is behind")
	}
	if err := objects.Update(thing("a", "10")); err != nil {
		t.Fatal(err)
	}
	if err := impl.Reconciler.Reconcile(t.Context(), "ns/a"); err != nil || len(*reconciled) != 1 {
		t.Errorf("Reconcile() = %v after %q, want nil after one: the write has arrived", err, *reconciled)
	}
}

func TestWire_Promoted_EarlierWritesAreForgotten(t *testing.T) {
	impl, objects, guards, reconciled := guarded(t, succeed)
	if err := objects.Add(thing("a", "9")); err != nil {
		t.Fatal(err)
	}
	guards.Expectations.Record(thing("a", "10"))
	promote(nil, nil, impl)
	if err := impl.Reconciler.Reconcile(t.Context(), "ns/a"); err != nil || len(*reconciled) != 1 {
		t.Errorf("Reconcile() = %v after %q, want nil after one", err, *reconciled)
	}
}

func TestWire_ObjectIsNotInTheCache_IsReconciled(t *testing.T) {
	impl, _, _, reconciled := guarded(t, succeed)
	if err := impl.Reconciler.Reconcile(t.Context(), "ns/a"); err != nil || len(*reconciled) != 1 {
		t.Errorf("Reconcile() = %v after %q, want nil after one: the reconciler has to notice the deletion", err, *reconciled)
	}
}

func TestWire_RequestsFail_ObjectIsDelayedUntilDemoted(t *testing.T) {
	impl, _, _, reconciled := guarded(t, func() error { return errors.New("induced") })
	for range 2 {
		if ok, after := controller.IsRequeueKey(impl.Reconciler.Reconcile(t.Context(), "ns/a")); !ok || after <= 0 || after > failures.FirstRecheck {
			t.Errorf("it is requeued after %s (%t), want at most %s", after, ok, failures.FirstRecheck)
		}
	}
	if len(*reconciled) != 1 {
		t.Errorf("it was reconciled %d times, want once in a second", len(*reconciled))
	}
	impl.Reconciler.(reconciler.LeaderAware).Demote(reconciler.UniversalBucket())
	if _ = impl.Reconciler.Reconcile(t.Context(), "ns/a"); len(*reconciled) != 2 {
		t.Errorf("after a demotion it was reconciled %d times, want 2", len(*reconciled))
	}
}

func TestReconciler_RetriesAndRequeues_AreNamedAsCauses(t *testing.T) {
	answers := []error{errors.New("no"), controller.NewRequeueAfter(time.Millisecond), nil}
	impl, _ := newController(t, func(context.Context, string) error {
		answer := answers[0]
		answers = answers[1:]
		return answer
	}, Guards{})
	for range 3 {
		_ = impl.Reconciler.Reconcile(t.Context(), "ns/a")
	}
	want := [][]string{{"other"}, {"retried"}, {"requeued"}}
	if got := causesOf(kindOf(t)); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the causes are %q, want %q", got, want)
	}
	for _, what := range []Cause{causeOther, causeRetried, causeRequeued} {
		if got := measured(t, "reconcile.triggers", attributes{"kind": kindOf(t), "cause": string(what)}); got != 1 {
			t.Errorf("%v events of cause %s, want 1", got, what)
		}
	}
}

func TestReconciler_MalformedKey_ReturnsError(t *testing.T) {
	impl, _ := newController(t, nil, Guards{})
	if err := impl.Reconciler.Reconcile(t.Context(), "a/b/c"); err == nil || !strings.Contains(err.Error(), `"a/b/c"`) {
		t.Errorf("got error %v", err)
	}
}

// NamespacedName.String would begin it with a slash.
func TestWire_ClusterScopedObject_KeyIsPassedOn(t *testing.T) {
	var keys []string
	impl, _ := newController(t, func(_ context.Context, key string) error {
		keys = append(keys, key)
		return nil
	}, Guards{})
	if err := impl.Reconciler.Reconcile(t.Context(), "a"); err != nil || !slices.Equal(keys, []string{"a"}) {
		t.Errorf("Reconcile() = %v, reconciled are %q", err, keys)
	}
}

// bucket is a lease that covers the names that begin alike.
type bucket struct{ name, covers string }

func (b bucket) Name() string                      { return b.name }
func (b bucket) Has(key types.NamespacedName) bool { return strings.HasPrefix(key.Name, b.covers) }

func TestReconciler_Leadership_IsForwardedAndRecorded(t *testing.T) {
	impl, _ := newController(t, nil, Guards{})
	inner := impl.Reconciler.(*wired).leaderAware.(*leader)
	var demoted []string
	inner.PromoteFunc = func(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(b, named("a"))
		enqueue(b, named("b"))
		return errors.New("promoted")
	}
	inner.DemoteFunc = func(b reconciler.Bucket) { demoted = append(demoted, b.Name()) }
	aware := impl.Reconciler.(reconciler.LeaderAware)
	lease := bucket{name: "lease-1", covers: "a"}
	held := attributes{"kind": kindOf(t), "lease": lease.name}

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
	if keys := reconcileAll(t, impl); !slices.Equal(keys, []string{"ns/a"}) {
		t.Errorf("enqueued are %q, want what the lease covers", keys)
	}
	if got := causesOf(kindOf(t)); len(got) != 1 || !slices.Equal(got[0], []string{"promoted"}) {
		t.Errorf("the causes are %q", got)
	}

	// Without election the one bucket has no name, and nothing is enqueued.
	inner.PromoteFunc = func(reconciler.Bucket, func(reconciler.Bucket, types.NamespacedName)) error {
		t.Error("called without a function to enqueue")
		return nil
	}
	if err := aware.Promote(reconciler.UniversalBucket(), nil); err != nil {
		t.Error(err)
	}
	if got := measured(t, "leader.held", attributes{"kind": kindOf(t), "lease": "none"}); got != 1 {
		t.Errorf("without election the metric is %v", got)
	}
}

// plain is a reconciler that is nothing else.
type plain struct{}

func (plain) Reconcile(context.Context, string) error { return nil }

// served is the reconciler of a webhook.
type served struct{ leader }

func (*served) Path() string { return "/it" }

func TestComplete_WiresOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		inner controller.Reconciler
		// wire reports whether the constructor calls Wire, and before reports whether the reconciler is wrapped before that.
		wire, before bool
		want         bool
	}{
		"leader-aware":         {inner: &leader{}, want: true},
		"already":              {inner: &leader{}, wire: true, before: true, want: true},
		"a webhook":            {inner: &served{}, wire: true, want: true},
		"a webhook, not wired": {inner: &served{}, want: true},
		"nothing else":         {inner: plain{}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, _ := attach(logtesting.TestContextWithLogger(t))
			impl := controller.NewContext(ctx, tc.inner, controller.ControllerOptions{WorkQueueName: kindOf(t), Logger: logtesting.TestLogger(t)})
			triggers := NewTriggers("Inner")
			if tc.wire {
				if err := triggers.Wire(ctx, impl, Guards{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, isWired := impl.Reconciler.(*wired); isWired != tc.before {
				t.Errorf("it is wired before: %t, want %t", isWired, tc.before)
			}
			if err := Complete(ctx, impl); err != nil {
				t.Fatal(err)
			}
			if n := len(metering.Points(t, reader, "reconcile", attributes{"kind": impl.Name})); tc.wire && n > 0 || tc.want && !tc.wire && n == 0 {
				t.Errorf("%d data points are exported under the name of the queue; wired: %t", n, tc.wire)
			}
			outer, isWired := impl.Reconciler.(*wired)
			if isWired != tc.want {
				t.Fatalf("it is wired: %t, want %t", isWired, tc.want)
			}
			if isWired && (outer.leaderAware != tc.inner || tc.wire != (outer.triggers == triggers)) {
				t.Errorf("it is wired around a %T", outer.leaderAware)
			}
		})
	}
}
