/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/observe/expectations"
)

// reconcileAll reconciles what is in the queue, and returns the keys in order. It ends the queue.
func reconcileAll(t *testing.T, impl *controller.Impl) []string {
	t.Helper()
	impl.WorkQueue().ShutDown()
	var keys []string
	for {
		key, ended := impl.WorkQueue().Get()
		// The queue reports its end with the last keys.
		if ended && key == nil {
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

func TestTriggers_Span_NamesEachEvent(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: thing("a", "1")}
	for name, tc := range map[string]struct {
		tell func(cache.ResourceEventHandler)
		want string
		what Cause
	}{
		"listed":                    {func(h cache.ResourceEventHandler) { h.OnAdd(thing("a", "1"), true) }, "listed Thing ns/a", causeListed},
		"added":                     {func(h cache.ResourceEventHandler) { h.OnAdd(thing("a", "1"), false) }, "added Thing ns/a", causeAdded},
		"updated":                   {func(h cache.ResourceEventHandler) { h.OnUpdate(thing("a", "1"), thing("a", "2")) }, "updated Thing ns/a", causeUpdated},
		"resynced":                  {func(h cache.ResourceEventHandler) { h.OnUpdate(thing("a", "2"), thing("a", "2")) }, "resynced Thing ns/a", causeResynced},
		"deleted":                   {func(h cache.ResourceEventHandler) { h.OnDelete(thing("a", "1")) }, "deleted Thing ns/a", causeDeleted},
		"deleted while not looking": {func(h cache.ResourceEventHandler) { h.OnDelete(tombstone) }, "deleted Thing ns/a", causeDeleted},
	} {
		t.Run(name, func(t *testing.T) {
			var things byHand
			impl, _ := newController(t, nil, Guards{}, For(Duck[*corev1.ConfigMap]("Thing", &things)))
			tc.tell(&things)
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

func TestWire_EachWay_IsCountedByItsCause(t *testing.T) {
	var children byHand
	source := Duck[*corev1.ConfigMap]("Child", &children)
	child := thing("child", "1")
	to := func(names ...string) (keys []types.NamespacedName) {
		for _, name := range names {
			keys = append(keys, named(name))
		}
		return keys
	}
	for name, tc := range map[string]struct {
		watch  Watch
		notify func(*Triggers, *controller.Impl)
		keys   []string
		cause  string
	}{
		"For": {watch: For(source), notify: addedTo(&children, child), keys: []string{"ns/child"}, cause: "added Child ns/child"},
		"For with two filters": {
			watch:  For(source, func(*corev1.ConfigMap) bool { return true }, func(cm *corev1.ConfigMap) bool { return cm.Name == "other" }),
			notify: addedTo(&children, child),
		},
		"For with a filter": {
			watch: For(source, func(cm *corev1.ConfigMap) bool { return cm.Name != "child" }), notify: addedTo(&children, child),
		},
		"Owns":                         {watch: Owns(source, ownerKind{}), notify: addedTo(&children, ownedBy("v1", "ConfigMap")), keys: []string{"ns/owner"}, cause: "added Child ns/owned"},
		"Owns, and another kind owns":  {watch: Owns(source, ownerKind{}), notify: addedTo(&children, ownedBy("v1", "Secret"))},
		"Owns, and another group owns": {watch: Owns(source, ownerKind{}), notify: addedTo(&children, ownedBy("example.com/v1", "ConfigMap"))},
		"Owns, and no group owns":      {watch: Owns(source, ownerKind{}), notify: addedTo(&children, ownedBy("a/b/c", "ConfigMap"))},
		"Owns, at another version":     {watch: Owns(source, ownerKind{}), notify: addedTo(&children, ownedBy("v2", "ConfigMap")), keys: []string{"ns/owner"}, cause: "added Child ns/owned"},
		"Owns without owner":           {watch: Owns(source, ownerKind{}), notify: addedTo(&children, child)},
		"Maps": {
			watch:  Maps(source, func(cm *corev1.ConfigMap) []types.NamespacedName { return to("to-" + cm.ResourceVersion) }),
			notify: func(*Triggers, *controller.Impl) { children.OnUpdate(thing("child", "1"), thing("child", "2")) },
			keys:   []string{"ns/to-1", "ns/to-2"}, cause: "updated Child ns/child",
		},
		"When": {
			watch:  When(source, func(e Event[*corev1.ConfigMap]) []types.NamespacedName { return to(string(e.Type)) }),
			notify: func(*Triggers, *controller.Impl) { children.OnDelete(child) },
			keys:   []string{"ns/Deleted"}, cause: "deleted Child ns/child",
		},
		"an object of another type": {watch: For(source), notify: func(*Triggers, *controller.Impl) { children.OnAdd("text", false) }},
		"Enqueue": {
			watch:  For(source),
			notify: func(t *Triggers, _ *controller.Impl) { t.Enqueue(Configured, "config-x", to("x", "y")) },
			keys:   []string{"ns/x", "ns/y"}, cause: "configured config-x",
		},
		"the queue alone": {
			watch: For(source), notify: func(_ *Triggers, impl *controller.Impl) { impl.EnqueueKey(named("b")) }, keys: []string{"ns/b"}, cause: "other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			impl, triggers := newController(t, nil, Guards{}, tc.watch)
			tc.notify(triggers, impl)
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

func ownedBy(version, kind string) *corev1.ConfigMap {
	owned := thing("owned", "1")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "owner", Controller: new(true)}}
	return owned
}

// ownerKind is the kind of owners.
type ownerKind struct{ *corev1.ConfigMap }

// GetGroupVersionKind implements kmeta.OwnerRefable.
func (ownerKind) GetGroupVersionKind() schema.GroupVersionKind {
	return corev1.SchemeGroupVersion.WithKind("ConfigMap")
}

func addedTo(source *byHand, object *corev1.ConfigMap) func(*Triggers, *controller.Impl) {
	return func(*Triggers, *controller.Impl) { source.OnAdd(object, false) }
}

// A child or an object that is deleted takes the expectations with it.
func TestWire_Deleted_ExpectationsAreForgotten(t *testing.T) {
	owner, child := thing("owner", "1"), thing("child", "9")
	child.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner.UID, Controller: new(true)}}
	for name, deleted := range map[string]*corev1.ConfigMap{"child": child, "owner": owner} {
		t.Run(name, func(t *testing.T) {
			var objects byHand
			guards := Guards{Expectations: expectations.New(nil)}
			source := Duck[*corev1.ConfigMap]("Thing", &objects)
			watch := Owns(source, ownerKind{})
			if deleted == owner {
				watch = For(source)
			}
			newController(t, nil, guards, watch)
			guards.Expectations.Written(owner, child)
			if !guards.Expectations.Behind(owner) {
				t.Fatal("the write of the child is not expected")
			}
			objects.OnDelete(deleted)
			if guards.Expectations.Behind(owner) {
				t.Error("the write of the child is expected still")
			}
		})
	}
}

func TestWire_NotUrgent_WaitsOutsideTheQueue(t *testing.T) {
	for name, tc := range map[string]struct {
		enqueue func(*byHand, *Triggers, *controller.Impl)
		demote  bool
		want    int
	}{
		"configured": {enqueue: func(_ *byHand, t *Triggers, _ *controller.Impl) {
			t.Enqueue(Configured, "config-x", Keys(thing("later", "1")))
		}, want: 1},
		"many": {enqueue: func(things *byHand, _ *Triggers, _ *controller.Impl) { things.OnAdd(thing("many", "1"), false) }, want: 100},
		"resync": {enqueue: func(things *byHand, _ *Triggers, _ *controller.Impl) {
			things.OnUpdate(thing("later", "1"), thing("later", "1"))
		}, want: 1},
		"promoted": {enqueue: promote, want: 1},
		"demoted":  {enqueue: promote, demote: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var things byHand
				impl, triggers := newController(t, nil, Guards{}, Maps(Duck[*corev1.ConfigMap]("Thing", &things), oneOrMany))
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
				tc.enqueue(&things, triggers, impl)
				synctest.Wait()
				if got := impl.WorkQueue().Len(); got != urgent {
					t.Errorf("%d keys are in the queue, want the %d urgent ones", got, urgent)
				}
				if tc.demote {
					outer.Demote(reconciler.UniversalBucket())
				}
				work(t, impl, urgent+tc.want)
				if got := impl.WorkQueue().Len(); got != 0 {
					t.Errorf("%d keys are left in the queue", got)
				}
				impl.WorkQueue().ShutDown()
				pass(time.Minute)
			})
		})
	}
}

// oneOrMany is 100 keys for an object of that name, and otherwise its own.
func oneOrMany(cm *corev1.ConfigMap) (keys []types.NamespacedName) {
	if cm.Name != "many" {
		return Keys(cm)
	}
	for i := range 100 {
		keys = append(keys, named(strconv.Itoa(i)))
	}
	return keys
}

// work reconciles a number of keys.
func work(t *testing.T, impl *controller.Impl, keys int) {
	t.Helper()
	for range keys {
		key, _ := impl.WorkQueue().Get()
		if err := impl.Reconciler.Reconcile(t.Context(), key.(types.NamespacedName).String()); err != nil {
			t.Error(err)
		}
		impl.WorkQueue().Done(key)
		synctest.Wait()
	}
}

func promote(_ *byHand, _ *Triggers, impl *controller.Impl) {
	promoted := impl.Reconciler.(reconciler.LeaderAware)
	if err := promoted.Promote(reconciler.UniversalBucket(), impl.MaybeEnqueueBucketKey); err != nil {
		panic(err)
	}
}
