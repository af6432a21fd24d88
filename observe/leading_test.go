/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

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
	ctx, stop := context.WithCancel(ctx)
	impl, q := controllerOf(ctx, observerOf(ctx, t, "it", handler).definitionOf)
	leader, ok := impl.Reconciler.(reconciler.LeaderAware)
	if !ok {
		t.Fatalf("%T is not leader-aware", impl.Reconciler)
	}
	impl.Reconciler = workers{impl.Reconciler}
	go func() { _ = controller.StartAll(ctx, impl) }()
	t.Cleanup(func() {
		stop()
		pass(time.Second)
	})
	return q, leader
}

// workers is a reconciler that package controller does not promote.
type workers struct{ controller.Reconciler }

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
		if n := len(q.records); n != 0 {
			t.Errorf("%d objects are kept of which another replica takes care", n)
		}
	})
}

// Without an election, package controller promotes twice.
func TestQueue_PromotedTwice_ReceivesTheObjectsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		received := 0
		q, leader := led(t.Context(), t, func(context.Context, Event[*partial]) error {
			received++
			return nil
		})
		q.objects = cache.NewStore(cache.MetaNamespaceKeyFunc)
		if err := q.objects.Add(object(1, 1)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := leader.Promote(reconciler.UniversalBucket(), nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if received != 1 {
			t.Errorf("the object is received %d times, want once", received)
		}
	})
}

// Sharedmain ends a process with a controller that is not leader-aware.
func TestConstructor_EveryReplica_IsLeaderAwareAndStartsWithTheControllers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var received int
		ctx, stop := context.WithCancel(t.Context())
		impl, q := controllerOf(ctx, observerOf(ctx, t, "it", func(context.Context, Event[*partial]) error {
			received++
			return nil
		}, Options[*partial]{Scope: EveryReplica}).definitionOf)
		defer q.stop()
		if _, ok := impl.Reconciler.(reconciler.LeaderAware); !ok {
			t.Errorf("%T is not leader-aware", impl.Reconciler)
		}
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
		pass(time.Second)
	})
}
