/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/reconciler"
)

// reconcileAll reconciles what is in the queue, and returns the keys in order. It ends the queue.
func reconcileAll(t *testing.T, impl *controller.Impl) []string {
	t.Helper()
	impl.WorkQueue().ShutDown()
	var keys []string
	for {
		key, ended := impl.WorkQueue().Get()
		if ended {
			slices.Sort(keys)
			return keys
		}
		name := key.(types.NamespacedName)
		keys = append(keys, name.String())
		if err := impl.Reconciler.Reconcile(t.Context(), name.String()); err != nil {
			t.Error(err)
		}
		impl.WorkQueue().Done(key)
	}
}

func TestSpanNamesWhatHappenedToWhat(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: thing("a", "1")}
	for name, tc := range map[string]struct {
		tell func(cache.ResourceEventHandler)
		want string
		what Cause
	}{
		"listed":                    {func(h cache.ResourceEventHandler) { h.OnAdd(thing("a", "1"), true) }, "listed Thing ns/a", Listed},
		"added":                     {func(h cache.ResourceEventHandler) { h.OnAdd(thing("a", "1"), false) }, "added Thing ns/a", Added},
		"updated":                   {func(h cache.ResourceEventHandler) { h.OnUpdate(thing("a", "1"), thing("a", "2")) }, "updated Thing ns/a", Updated},
		"resynced":                  {func(h cache.ResourceEventHandler) { h.OnUpdate(thing("a", "2"), thing("a", "2")) }, "resynced Thing ns/a", Resynced},
		"deleted":                   {func(h cache.ResourceEventHandler) { h.OnDelete(thing("a", "1")) }, "deleted Thing ns/a", Deleted},
		"deleted while not looking": {func(h cache.ResourceEventHandler) { h.OnDelete(tombstone) }, "deleted Thing ns/a", Deleted},
	} {
		t.Run(name, func(t *testing.T) {
			impl, triggers := newController(t, nil)
			tc.tell(triggers.Handler("Thing", Event.Enqueue))
			if keys := reconcileAll(t, impl); !slices.Equal(keys, []string{"ns/a"}) {
				t.Errorf("enqueued are %q", keys)
			}
			if got := causesOf(kindOf(t)); len(got) != 1 || !slices.Equal(got[0], []string{tc.want}) {
				t.Errorf("the causes are %q, want %q", got, tc.want)
			}
			if got := measured(t, "reconcile.triggers", attributes{"kind": kindOf(t), "cause": string(tc.what), "source": "Thing"}); got != 1 {
				t.Errorf("%v events are counted, want 1", got)
			}
		})
	}
}

func TestEnqueue_EachWay_IsCountedByItsCause(t *testing.T) {
	child := thing("child", "1")
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.ConfigMap{}, 0, cache.Indexers{})
	for _, obj := range []kmeta.Accessor{thing("x", "1"), thing("y", "1"), thing("not", "1")} {
		if err := informer.GetIndexer().Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	accepted := func(obj any) bool { return obj.(kmeta.Accessor).GetName() != "not" }
	for name, tc := range map[string]struct {
		enqueue func(*Triggers, *controller.Impl)
		keys    []string
		cause   string
	}{
		"itself":    {on(child, Event.Enqueue), []string{"ns/child"}, "added Child ns/child"},
		"another":   {on(child, func(e Event) { e.EnqueueObject(thing("b", "1")) }), []string{"ns/b"}, "added Child ns/child"},
		"by name":   {on(child, func(e Event) { e.EnqueueKey(named("b")) }), []string{"ns/b"}, "added Child ns/child"},
		"no object": {on("text", func(e Event) { e.Enqueue() }), nil, ""},
		"all of an informer": {
			on(child, func(e Event) { e.EnqueueAll(accepted, informer) }), []string{"ns/x", "ns/y"}, "added Child ns/child",
		},
		"all for a ConfigMap": {
			func(t *Triggers, _ *controller.Impl) { t.EnqueueConfigured("config-x", accepted, informer) },
			[]string{"ns/x", "ns/y"},
			"configured config-x",
		},
		"by the queue alone": {
			func(_ *Triggers, impl *controller.Impl) { impl.EnqueueKey(named("b")) }, []string{"ns/b"}, "other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			impl, triggers := newController(t, nil)
			tc.enqueue(triggers, impl)
			if keys := reconcileAll(t, impl); !slices.Equal(keys, tc.keys) {
				t.Errorf("enqueued are %q, want %q", keys, tc.keys)
			}
			for _, causes := range causesOf(kindOf(t)) {
				if !slices.Equal(causes, []string{tc.cause}) {
					t.Errorf("the causes are %q, want %q", causes, tc.cause)
				}
			}
		})
	}
}

func on(obj any, f func(Event)) func(*Triggers, *controller.Impl) {
	return func(t *Triggers, _ *controller.Impl) { t.Handler("Child", f).OnAdd(obj, false) }
}

func TestWire_NotUrgent_WaitsOutsideTheQueue(t *testing.T) {
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.ConfigMap{}, 0, nil)
	if err := informer.GetStore().Add(thing("later", "1")); err != nil {
		t.Fatal(err)
	}
	all := func(any) bool { return true }
	for name, tc := range map[string]struct {
		enqueue func(*Triggers, *controller.Impl)
		demote  bool
		want    int
	}{
		"configured": {enqueue: func(t *Triggers, _ *controller.Impl) { t.EnqueueConfigured("config-x", all, informer) }, want: 1},
		"all":        {enqueue: on(thing("other", "1"), func(e Event) { e.EnqueueAll(all, informer) }), want: 1},
		"resync": {
			enqueue: func(t *Triggers, _ *controller.Impl) {
				t.Handler("Thing", Event.Enqueue).OnUpdate(thing("later", "1"), thing("later", "1"))
			},
			want: 1,
		},
		"promoted": {enqueue: promote, want: 1},
		"demoted":  {enqueue: promote, demote: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				impl, triggers := newController(t, nil)
				outer := impl.Reconciler.(*wired)
				outer.leaderAware.(*leader).PromoteFunc = func(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
					enqueue(b, named("later"))
					return nil
				}
				urgent := impl.Concurrency
				for i := range urgent {
					impl.EnqueueKey(named(fmt.Sprint("urgent", i)))
				}
				synctest.Wait()
				tc.enqueue(triggers, impl)
				synctest.Wait()
				if got := impl.WorkQueue().Len(); got != urgent {
					t.Errorf("%d keys are in the queue, want the %d urgent ones", got, urgent)
				}
				if tc.demote {
					outer.Demote(reconciler.UniversalBucket())
				}
				for range urgent + tc.want {
					key, _ := impl.WorkQueue().Get()
					if err := impl.Reconciler.Reconcile(t.Context(), key.(types.NamespacedName).String()); err != nil {
						t.Error(err)
					}
					impl.WorkQueue().Done(key)
					synctest.Wait()
				}
				if got := impl.WorkQueue().Len(); got != 0 {
					t.Errorf("%d keys are left in the queue", got)
				}
				impl.WorkQueue().ShutDown()
				time.Sleep(time.Minute) //nolint:forbidigo // the bubble's clock
			})
		})
	}
}

func promote(_ *Triggers, impl *controller.Impl) {
	promoted := impl.Reconciler.(reconciler.LeaderAware)
	if err := promoted.Promote(reconciler.UniversalBucket(), impl.MaybeEnqueueBucketKey); err != nil {
		panic(err)
	}
}
