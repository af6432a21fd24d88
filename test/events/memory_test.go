/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	clientfeatures "k8s.io/client-go/features"
	clientfeaturestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/buffer"
)

// failingFor is a transform that fails for an object of a name, from a time on.
func failingFor(name string, from *atomic.Bool) cache.TransformFunc {
	return func(obj any) (any, error) {
		if cm, ok := obj.(*corev1.ConfigMap); ok && cm.Name == name && from.Load() {
			return nil, errInduced
		}
		return obj, nil
	}
}

func TestTransform_FailsInTheWatch_ChangeIsDropped(t *testing.T) {
	s := newServer("5")
	informer, calls := s.informer(t, 0), newRecorded()
	var fails atomic.Bool
	fails.Store(true)
	must(t, informer.SetTransform(failingFor("bad", &fails)))
	add(t, informer, calls)
	run(t, informer)
	first := s.watched(t)
	bad, good := it("bad", "6"), it("good", "7")
	first.Add(&bad)
	first.Add(&good)
	calls.expect(t, "add good@7 listed=false")
	if keys := informer.GetStore().ListKeys(); !slices.Equal(keys, []string{"ns/good"}) {
		t.Errorf("the cache has %q", keys)
	}
	first.Modify(&good)
	if n := len(s.listed()); n != 1 {
		t.Errorf("there were %d lists, want 1: nothing brings the change back", n)
	}
}

func TestTransform_SetTwice_LastOneCounts(t *testing.T) {
	s := newServer("5", it("a", "3"))
	informer := s.informer(t, 0)
	label := func(value string) cache.TransformFunc {
		return func(obj any) (any, error) {
			obj.(*corev1.ConfigMap).Labels = map[string]string{"by": value}
			return obj, nil
		}
	}
	must(t, informer.SetTransform(label("first")), informer.SetTransform(label("second")))
	run(t, informer)
	s.watched(t)
	eventually(t, "the cache is filled", informer.HasSynced)
	cached, _, err := informer.GetStore().GetByKey("ns/a")
	must(t, err)
	if got := cached.(*corev1.ConfigMap).Labels["by"]; got != "second" {
		t.Errorf("the object is transformed by the %s", got)
	}
	if err := informer.SetTransform(label("late")); err == nil {
		t.Error("a transform can be set while the informer runs")
	}
}

func TestTransform_FailsInAList_NeverSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5", it("good", "3"), it("bad", "4"))
		informer, failures := s.informer(t, 0), make(chan error, 10)
		var fails atomic.Bool
		fails.Store(true)
		must(t, informer.SetTransform(failingFor("bad", &fails)),
			informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { failures <- err }))
		run(t, informer)
		for range 2 {
			if err := receive(t, failures, "a failure to list"); !strings.Contains(err.Error(), errInduced.Error()) {
				t.Errorf("the list fails with %v", err)
			}
		}
		if informer.HasSynced() || len(s.watches) > 0 {
			t.Errorf("the informer has synced: %t, and it has %d watches", informer.HasSynced(), len(s.watches))
		}
		fails.Store(false)
		s.watched(t)
		eventually(t, "the informer has synced", informer.HasSynced)
	})
}

func TestTransform_FailsInAStreamedList_LiveObjectIsDeleted(t *testing.T) {
	clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, true)
	s := newServer("5")
	informer, calls := cache.NewSharedIndexInformer(s.lw(), &corev1.ConfigMap{}, 0, cache.Indexers{}), newRecorded()
	var fails atomic.Bool
	must(t, informer.SetTransform(failingFor("bad", &fails)))
	add(t, informer, calls)
	run(t, informer)
	bad := it("bad", "3")
	first := s.watched(t)
	first.Add(&bad)
	first.Action("BOOKMARK", initialEventsEnd("5"))
	calls.expect(t, "add bad@3 listed=true")
	fails.Store(true)
	first.Error(&errExpired.ErrStatus)
	second := s.watched(t)
	second.Add(&bad)
	second.Action("BOOKMARK", initialEventsEnd("6"))
	calls.expect(t, "delete tombstone of bad@3")
}

func TestTransform_StreamedList_IsTransformedTwice(t *testing.T) {
	for name, streamed := range map[string]bool{"Streamed": true, "Listed": false} {
		t.Run(name, func(t *testing.T) {
			s := newServer("5", it("a", "3"))
			informer, calls := s.informer(t, 0), newRecorded()
			if streamed {
				clientfeaturestesting.SetFeatureDuringTest(t, clientfeatures.WatchListClient, true)
				informer = cache.NewSharedIndexInformer(s.lw(), &corev1.ConfigMap{}, 0, cache.Indexers{})
			}
			var times atomic.Int32
			must(t, informer.SetTransform(func(obj any) (any, error) {
				times.Add(1)
				return obj, nil
			}))
			add(t, informer, calls)
			run(t, informer)
			first, want := s.watched(t), int32(1)
			if streamed {
				a := it("a", "3")
				first.Add(&a)
				first.Action("BOOKMARK", initialEventsEnd("5"))
				want = 2
			}
			calls.expect(t, "add a@3 listed=true")
			if n := times.Load(); n != want {
				t.Errorf("the object was transformed %d times, want %d", n, want)
			}
		})
	}
}

func TestRing_Emptied_KeepsItsSize(t *testing.T) {
	if source := read(t, filepath.Join(clientGo(t, ""), "tools", "cache", "shared_informer.go")); !strings.Contains(source, "pendingNotifications buffer.RingGrowing\n") {
		t.Error("a handler has another buffer")
	}
	var ring buffer.TypedRingGrowing[int]
	for i := range 1000 {
		ring.WriteOne(i)
	}
	for ring.Len() > 0 {
		ring.ReadOne()
	}
	if n := ring.Cap(); n < 1000 {
		t.Errorf("the buffer has room for %d elements", n)
	}
}

func TestIndex_Update_CallsItsFunctionTwice(t *testing.T) {
	var called []string
	indexed := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"it": func(obj any) ([]string, error) {
		called = append(called, describe(obj))
		return nil, nil
	}})
	older, newer := it("a", "3"), it("a", "6")
	must(t, indexed.Add(&older), indexed.Update(&newer))
	if want := []string{"a@3", "a@3", "a@6"}; !slices.Equal(called, want) {
		t.Errorf("the function is called with %q, want %q", called, want)
	}
}
