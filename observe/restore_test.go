/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/reconciler"
)

// notified is a queue of Secrets that a test notifies.
type notified struct{ *queue[*corev1.Secret] }

func newNotified(t *testing.T, scope Scope) notified {
	t.Helper()
	d, err := define("it", ofSecrets(nil), func(context.Context, Event[*corev1.Secret]) error { return nil }, []Options[*corev1.Secret]{{Scope: scope}})
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(d.observer(t.Context()), reconciler.UniversalBucket())
	q.startWorker = func() {}
	return notified{q}
}

// expect delivers what is pending, and compares it.
func (n notified) expect(t *testing.T, want ...string) {
	t.Helper()
	if received := deliverAll(n.records[cache.NewObjectName("ns", "it")]); !slices.Equal(received, want) {
		t.Errorf("received are %q, want %q", received, want)
	}
}

// After a restore of etcd from a backup, versions are lower than before.
func TestQueue_VersionsAreLower_ChangesAreDelivered(t *testing.T) {
	n := newNotified(t, EveryReplica)
	n.OnAdd(state("a", 9), true)
	n.expect(t, "Added a@9 listed")
	n.OnUpdate(state("a", 9), state("a", 5))
	n.expect(t, "Updated a@9→a@5")
	n.OnUpdate(state("a", 5), state("b", 4))
	n.expect(t, "Deleted a@5→a@5 unknown", "Added b@4")
	n.OnUpdate(state("b", 4), state("c", 4))
	n.expect(t, "Deleted b@4→b@4 unknown", "Added c@4")
}

// promoted is the queue of a leader whose cache has b@5 while the notifications that led to it have not arrived.
func promoted(t *testing.T) notified {
	t.Helper()
	n := newNotified(t, LeaderOnly)
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	if err := store.Add(state("b", 5)); err != nil {
		t.Fatal(err)
	}
	n.objects, n.buckets = store, map[string]reconciler.Bucket{}
	if err := leading[*corev1.Secret](n).Promote(reconciler.UniversalBucket(), nil); err != nil {
		t.Fatal(err)
	}
	n.expect(t, "Added b@5 listed")
	return n
}

func TestQueue_PromotedWithACacheThatIsAhead_WhatLedToItIsNoNews(t *testing.T) {
	n := promoted(t)
	n.OnAdd(state("a", 1), false)
	n.OnUpdate(state("a", 1), state("a", 2))
	n.OnDelete(state("a", 3))
	n.OnAdd(state("b", 4), false)
	n.OnUpdate(state("b", 4), state("b", 5))
	n.expect(t)
	n.OnUpdate(state("b", 5), state("b", 3))
	n.expect(t, "Updated b@5→b@3")
}

func TestQueue_PromotedWithoutPendingNotifications_ReceivesTheNextChange(t *testing.T) {
	for name, tc := range map[string]struct {
		notify func(cache.ResourceEventHandler)
		want   []string
	}{
		"a lower version": {func(h cache.ResourceEventHandler) { h.OnUpdate(state("b", 5), state("b", 3)) }, []string{"Updated b@5→b@3"}},
		"another UID":     {func(h cache.ResourceEventHandler) { h.OnUpdate(state("b", 5), state("c", 3)) }, []string{"Deleted b@5→b@5 unknown", "Added c@3"}},
		"deleted": {func(h cache.ResourceEventHandler) {
			h.OnDelete(state("b", 6))
			h.OnAdd(state("c", 3), false)
		}, []string{"Deleted b@5→b@6", "Added c@3"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := promoted(t)
			tc.notify(n)
			n.expect(t, tc.want...)
		})
	}
}

// backup is a copy of the state of an API server.
type backup struct {
	version int
	live    map[string]*corev1.Secret
}

// advance moves to the next version that no state has had, also before a restore: the same version means the same state.
func (s *apiServer) advance() {
	s.newest = max(s.newest, s.version) + 1
	s.version = s.newest
}

func (s *apiServer) save() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backup = backup{s.version, maps.Clone(s.live)}
}

// restore returns to the backup. The server does not know the past, and versions are lower than before.
func (s *apiServer) restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end(nil)
	if s.backup.live != nil {
		s.lost = append(s.lost, [2]int{s.backup.version, max(s.newest, s.version)})
		s.version, s.live = s.backup.version, maps.Clone(s.backup.live)
		s.forget()
	}
}

// registering is an informer that calls a function when a handler is added.
type registering struct {
	cache.SharedIndexInformer

	adding func()
}

// AddEventHandlerWithOptions implements cache.SharedInformer.
func (r registering) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	r.adding()
	return r.SharedIndexInformer.AddEventHandlerWithOptions(h, o)
}

// A promotion that read the cache before the handler is added would not learn of what changes in between.
func TestListen_HandlerIsBeingAdded_PromotionWaits(t *testing.T) {
	n := newNotified(t, LeaderOnly)
	d := &definitionOf[*corev1.Secret]{source: ofSecrets(nil)}
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Secret{}, 0, indexers())
	added := false
	if _, err := d.listen(registering{informer, func() {
		added = true
		if n.mu.TryLock() {
			n.mu.Unlock()
			t.Error("a promotion may read the cache")
		}
	}}, n.queue); err != nil || !added {
		t.Errorf("a handler is added: %t, %v", added, err)
	}
}
