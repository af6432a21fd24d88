/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/tracker"
)

// pass has the controller make the passes that wait, and returns the keys in order. It ends the queue.
func pass(t *testing.T, impl *controller.Impl) []string {
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
		what What
	}{
		"listed":                    {func(h cache.ResourceEventHandler) { h.OnAdd(thing("a", "1"), true) }, "listed Thing ns/a", Listed},
		"added":                     {func(h cache.ResourceEventHandler) { h.OnAdd(thing("a", "1"), false) }, "added Thing ns/a", Added},
		"updated":                   {func(h cache.ResourceEventHandler) { h.OnUpdate(thing("a", "1"), thing("a", "2")) }, "updated Thing ns/a", Updated},
		"resynced":                  {func(h cache.ResourceEventHandler) { h.OnUpdate(thing("a", "2"), thing("a", "2")) }, "resynced Thing ns/a", Resynced},
		"deleted":                   {func(h cache.ResourceEventHandler) { h.OnDelete(thing("a", "1")) }, "deleted Thing ns/a", Deleted},
		"deleted while not looking": {func(h cache.ResourceEventHandler) { h.OnDelete(tombstone) }, "deleted Thing ns/a", Deleted},
	} {
		t.Run(name, func(t *testing.T) {
			impl, wakes := newController(t, nil)
			tc.tell(wakes.On("Thing", Event.Enqueue))
			if keys := pass(t, impl); !slices.Equal(keys, []string{"ns/a"}) {
				t.Errorf("woken are %q", keys)
			}
			if got := causesOf(kindOf(t)); len(got) != 1 || !slices.Equal(got[0], []string{tc.want}) {
				t.Errorf("the causes are %q, want %q", got, tc.want)
			}
			if got := measured(t, "reconcile.wakes", attributes{kindKey: kindOf(t), causeKey: string(tc.what), sourceKey: "Thing"}); got != 1 {
				t.Errorf("%v wakes are counted, want 1", got)
			}
		})
	}
}

func TestEveryWayToWakeIsTold(t *testing.T) {
	child := thing("child", "1")
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.ConfigMap{}, 0, cache.Indexers{})
	for _, obj := range []kmeta.Accessor{thing("x", "1"), thing("y", "1"), thing("not", "1")} {
		if err := informer.GetIndexer().Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	accepted := func(obj any) bool { return obj.(kmeta.Accessor).GetName() != "not" }
	configMap := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	for name, tc := range map[string]struct {
		wake  func(*Wakes, *controller.Impl)
		keys  []string
		cause string
	}{
		"itself":    {on(child, Event.Enqueue), []string{"ns/child"}, "added Child ns/child"},
		"another":   {on(child, func(e Event) { e.EnqueueObject(thing("b", "1")) }), []string{"ns/b"}, "added Child ns/child"},
		"by name":   {on(child, func(e Event) { e.EnqueueKey(named("b")) }), []string{"ns/b"}, "added Child ns/child"},
		"no object": {on("text", func(e Event) { e.Enqueue(); e.EnqueueObservers(configMap) }), nil, ""},
		"all of an informer": {
			on(child, func(e Event) { e.EnqueueAll(accepted, informer) }), []string{"ns/x", "ns/y"}, "added Child ns/child",
		},
		"all for a config map": {
			func(w *Wakes, _ *controller.Impl) { w.EnqueueConfigured("config-x", accepted, informer) },
			[]string{"ns/x", "ns/y"},
			"configured config-x",
		},
		"beginning to track": {
			func(_ *Wakes, impl *controller.Impl) { track(t, impl, "child", "b") }, []string{"ns/b"}, "tracked",
		},
		"by the tracker alone": {
			func(_ *Wakes, impl *controller.Impl) { impl.EnqueueKey(named("b")) }, []string{"ns/b"}, "other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			impl, wakes := newController(t, nil)
			tc.wake(wakes, impl)
			if keys := pass(t, impl); !slices.Equal(keys, tc.keys) {
				t.Errorf("woken are %q, want %q", keys, tc.keys)
			}
			for _, causes := range causesOf(kindOf(t)) {
				if !slices.Equal(causes, []string{tc.cause}) {
					t.Errorf("the causes are %q, want %q", causes, tc.cause)
				}
			}
		})
	}
}

func on(obj any, f func(Event)) func(*Wakes, *controller.Impl) {
	return func(w *Wakes, _ *controller.Impl) { w.On("Child", f).OnAdd(obj, false) }
}

func track(t *testing.T, impl *controller.Impl, name, by string) {
	t.Helper()
	ref := tracker.Reference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "ns", Name: name}
	if err := impl.Tracker.TrackReference(ref, thing(by, "1")); err != nil {
		t.Fatal(err)
	}
}

func TestATrackedChangeNamesTheObjectThatChanged(t *testing.T) {
	for name, kind := range map[string]schema.GroupVersionKind{"typed": corev1.SchemeGroupVersion.WithKind("ConfigMap"), "says what it is": {}} {
		t.Run(name, func(t *testing.T) {
			var impl *controller.Impl
			var wakes *Wakes
			impl, wakes = newController(t, func(_ context.Context, key string) error {
				track(t, impl, "target", strings.TrimPrefix(key, "ns/"))
				return nil
			})
			impl.EnqueueKey(named("a"))
			impl.EnqueueKey(named("b"))
			// Tracking for the first time enqueues each once more.
			for range 4 {
				key, _ := impl.WorkQueue().Get()
				if err := impl.Reconciler.Reconcile(t.Context(), key.(types.NamespacedName).String()); err != nil {
					t.Error(err)
				}
				impl.WorkQueue().Done(key)
			}
			target := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "target"}}
			if kind.Empty() {
				target.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
			}
			wakes.On("ConfigMap", func(e Event) { e.EnqueueObservers(kind) }).OnDelete(target)
			if keys := pass(t, impl); !slices.Equal(keys, []string{"ns/a", "ns/b"}) {
				t.Errorf("woken are %q", keys)
			}
			want := []string{"deleted ConfigMap ns/target"}
			got := causesOf(kindOf(t))
			if len(got) != 6 || !slices.Equal(got[4], want) || !slices.Equal(got[5], want) {
				t.Errorf("the causes are %q, want %q in the last two", got, want)
			}
		})
	}
}

func TestInstrument_ReconciliationTracksAnother_FormerTargetIsForgotten(t *testing.T) {
	var impl *controller.Impl
	target := "first"
	impl, _ = newController(t, func(context.Context, string) error {
		track(t, impl, target, "a")
		return nil
	})
	for _, target = range []string{"first", "second"} {
		if err := impl.Reconciler.Reconcile(t.Context(), "ns/a"); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"first": 0, "second": 1} {
		changed := thing(name, "1").(*corev1.ConfigMap)
		changed.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
		if got := impl.Tracker.GetObservers(changed); len(got) != want {
			t.Errorf("%s is observed by %v, want %d", name, got, want)
		}
	}
}

func TestInstrument_NotUrgent_WaitsOutsideTheQueue(t *testing.T) {
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.ConfigMap{}, 0, nil)
	if err := informer.GetStore().Add(thing("later", "1")); err != nil {
		t.Fatal(err)
	}
	all := func(any) bool { return true }
	for name, tc := range map[string]struct {
		wake   func(*Wakes, *controller.Impl)
		demote bool
		want   int
	}{
		"configured": {wake: func(w *Wakes, _ *controller.Impl) { w.EnqueueConfigured("config-x", all, informer) }, want: 1},
		"all":        {wake: on(thing("other", "1"), func(e Event) { e.EnqueueAll(all, informer) }), want: 1},
		"resync": {
			wake: func(w *Wakes, _ *controller.Impl) {
				w.On("Thing", Event.Enqueue).OnUpdate(thing("later", "1"), thing("later", "1"))
			},
			want: 1,
		},
		"promoted": {wake: promote, want: 1},
		"demoted":  {wake: promote, demote: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				impl, wakes := newController(t, nil)
				observed := impl.Reconciler.(*observedLeader)
				observed.leader.(*leader).PromoteFunc = func(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
					enqueue(b, named("later"))
					return nil
				}
				urgent := impl.Concurrency
				for i := range urgent {
					impl.EnqueueKey(named(fmt.Sprint("urgent", i)))
				}
				synctest.Wait()
				tc.wake(wakes, impl)
				synctest.Wait()
				if got := impl.WorkQueue().Len(); got != urgent {
					t.Errorf("%d keys are in the queue, want the %d urgent ones", got, urgent)
				}
				if tc.demote {
					observed.Demote(reconciler.UniversalBucket())
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

func promote(_ *Wakes, impl *controller.Impl) {
	promoted := impl.Reconciler.(reconciler.LeaderAware)
	if err := promoted.Promote(reconciler.UniversalBucket(), impl.MaybeEnqueueBucketKey); err != nil {
		panic(err)
	}
}
