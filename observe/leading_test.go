/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

// led is a queue of an observer that runs on the leader only, until the test ends, with what promotes and demotes it.
func led(ctx context.Context, t *testing.T, handler Handler[*partial]) (*queue[*partial], reconciler.LeaderAware) {
	t.Helper()
	q := newQueue(observerOf(ctx, t, "it", handler))
	q.objects = cache.NewStore(cache.MetaNamespaceKeyFunc)
	impl := controllerOf(q)
	t.Cleanup(q.stop)
	t.Cleanup(impl.WorkQueue().ShutDown)
	leader, ok := impl.Reconciler.(reconciler.LeaderAware)
	if !ok {
		t.Fatalf("%T is not leader-aware", impl.Reconciler)
	}
	return q, leader
}

func TestQueue_LeaderOnly_ReceivesTheObjectsOfItsBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var received []string
		q, leader := led(t.Context(), t, func(_ context.Context, e Event[*partial]) error {
			received = append(received, fmt.Sprintf("%v %s listed=%t", e.Type, e.Name.Name, e.InInitialList))
			return nil
		})
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		q.objects = store
		object := func(name, version string) *partial {
			return &partial{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: version}}
		}
		notify := func(o *partial) {
			t.Helper()
			if err := store.Add(o); err != nil {
				t.Fatal(err)
			}
			q.OnAdd(o, true)
		}
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, received); diff != "" {
				t.Errorf("received (-want +got):\n%s", diff)
			}
			received = nil
		}
		notify(object("a-1", "1"))
		notify(object("b-1", "2"))
		expect()
		if err := leader.Promote(bucket{name: "a", covers: "a-"}, nil); err != nil {
			t.Fatal(err)
		}
		expect("Added a-1 listed=true")
		q.OnAdd(object("a-2", "3"), false)
		q.OnAdd(object("b-1", "4"), false)
		expect("Added a-2 listed=false")
		// A notification that the cache was ahead of when the replica was promoted is no news.
		q.OnUpdate(nil, object("a-1", "1"))
		expect()
		leader.Demote(bucket{name: "a", covers: "a-"})
		q.OnUpdate(nil, object("a-1", "5"))
		expect()
		if n := q.undelivered(); n != 0 {
			t.Errorf("%d objects have events of which another replica takes care", n)
		}
	})
}

// gated is a reconciler in front of another, which a test shuts.
type gated struct {
	controller.Reconciler

	isShut bool
}

func (g *gated) Reconcile(ctx context.Context, key string) error {
	if g.isShut {
		return controller.NewSkipKey(key)
	}
	return g.Reconciler.Reconcile(ctx, key)
}

func TestQueue_LeaderOnly_DeliversThroughTheReconcilerOfItsController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var received []string
		q, leader := led(t.Context(), t, func(_ context.Context, e Event[*partial]) error {
			received = append(received, e.Name.Name)
			return nil
		})
		gate := &gated{Reconciler: q.gate.Reconciler}
		q.gate.Reconciler = gate
		if err := leader.Promote(reconciler.UniversalBucket(), nil); err != nil {
			t.Fatal(err)
		}
		q.OnAdd(object(1, 1), false)
		synctest.Wait()
		gate.isShut = true
		q.OnAdd(object(2, 1), false)
		synctest.Wait()
		if !slices.Equal(received, []string{"1"}) {
			t.Errorf("received are %q, want what was enqueued before the gate was shut", received)
		}
	})
}

// The next leader receives the notifications that the previous one had not received, except deletions.
func TestShutdown_ReplicaCeasesToLead_WaitsForTheCallAndCountsWhatIsPending(t *testing.T) {
	for stopping, want := range map[bool]string{true: "the events of 2 objects were not delivered", false: "the events of 1 objects were not delivered"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			release := make(chan struct{})
			q, leader := led(ctx, t, func(context.Context, Event[*partial]) error {
				<-release
				return nil
			})
			if err := leader.Promote(reconciler.UniversalBucket(), nil); err != nil {
				t.Fatal(err)
			}
			q.OnAdd(object(1, 1), false)
			synctest.Wait()
			q.OnAdd(object(2, 1), false)
			if stopping {
				stop()
			}
			leader.Demote(reconciler.UniversalBucket())
			stop()
			if err := shutdown(t, q); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
			close(release)
		})
	}
}

func TestConstructor_EveryReplica_StartsWithTheControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var received int
		ctx, stop := context.WithCancel(t.Context())
		q := newQueue(observerOf(ctx, t, "it", func(context.Context, Event[*partial]) error {
			received++
			return nil
		}, Options[*partial]{Scope: EveryReplica}))
		defer q.stop()
		impl := controllerOf(q)
		q.OnAdd(object(1, 1), true)
		synctest.Wait()
		if received != 0 {
			t.Error("the observer is called before the controllers start")
		}
		go func() { _ = controller.StartAll(ctx, impl) }()
		synctest.Wait()
		if received != 1 {
			t.Errorf("the observer has received %d events, want 1", received)
		}
		stop()
		pass(drainPoll)
	})
}
