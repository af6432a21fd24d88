/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// blocked is a handler whose first call waits.
type blocked struct {
	recorded

	began, release chan struct{}
}

func newBlocked() *blocked {
	return &blocked{recorded: newRecorded(), began: make(chan struct{}, 100), release: make(chan struct{})}
}

// OnAdd implements cache.ResourceEventHandler.
func (b *blocked) OnAdd(obj any, listed bool) {
	b.began <- struct{}{}
	<-b.release
	b.recorded.OnAdd(obj, listed)
}

func TestHandler_OneIsSlow_TheOthersAndTheCacheAreNot(t *testing.T) {
	s := newServer("5", it("a", "3"))
	informer, slow, fast := s.informer(t, 0), newBlocked(), newRecorded()
	add(t, informer, slow)
	add(t, informer, fast)
	run(t, informer)
	first := s.watched(t)
	receive(t, slow.began, "the slow handler")
	newer := it("a", "6")
	first.Modify(&newer)
	fast.expect(t, "add a@3 listed=true", "update a@3 to a@6")
	cached, _, err := informer.GetStore().GetByKey("ns/a")
	must(t, err)
	if got := describe(cached); got != "a@6" {
		t.Errorf("the cache has %s while the handler is called with a@3", got)
	}
	close(slow.release)
	slow.expect(t, "add a@3 listed=true", "update a@3 to a@6")
}

// An observer keeps two events of an object at most: TestQueue_HandlerSleeps_HeapDependsOnTheNumberOfKeysAlone.
func TestHandler_Blocks_RingBufferKeepsEachState(t *testing.T) {
	const changes = 1000
	s := newServer("5", it("a", "3"))
	informer := s.informer(t, 0)
	began, release := make(chan struct{}), make(chan struct{})
	var called atomic.Int64
	add(t, informer, cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) {
			close(began)
			<-release
		},
		UpdateFunc: func(_, _ any) { called.Add(1) },
	})
	var states []weak.Pointer[corev1.ConfigMap]
	received := make(chan struct{})
	add(t, informer, cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, obj any) {
		states = append(states, weak.Make(obj.(*corev1.ConfigMap)))
		received <- struct{}{}
	}})
	run(t, informer)
	first := s.watched(t)
	receive(t, began, "the slow handler")
	for change := range changes {
		newer := it("a", strconv.Itoa(6+change))
		first.Modify(&newer)
		receive(t, received, "the change")
	}
	kept := func() (n int) {
		runtime.GC()
		for _, state := range states {
			if state.Value() != nil {
				n++
			}
		}
		return n
	}
	if n := kept(); n != changes {
		t.Errorf("%d of %d states of one object are kept for the handler that blocks", n, changes)
	}
	close(release)
	eventually(t, "the handler has been called with all", func() bool { return called.Load() == changes })
	eventually(t, "only a few states are kept", func() bool { return kept() < changes/10 })
}

// overlapping is a handler that notes calls that overlap, or that the cache is behind of.
type overlapping struct {
	recorded

	cached  cache.Store
	running atomic.Int32
	faults  chan string
}

// OnUpdate implements cache.ResourceEventHandler.
func (o *overlapping) OnUpdate(old, obj any) {
	if o.running.Add(1) > 1 {
		o.faults <- "another call is running during that with " + describe(obj)
	}
	cached, _, err := o.cached.Get(obj)
	if version := cached.(*corev1.ConfigMap).ResourceVersion; err != nil || version < obj.(*corev1.ConfigMap).ResourceVersion {
		o.faults <- fmt.Sprintf("the cache has version %s during the call with %s, %v", version, describe(obj), err)
	}
	o.running.Add(-1)
	o.recorded.OnUpdate(old, obj)
}

func TestHandler_ManyChanges_CallsAreSequentialAndInTheOrderOfChanges(t *testing.T) {
	s := newServer("100", it("a", "100"), it("b", "100"))
	informer := s.informer(t, 0)
	handler := &overlapping{recorded: newRecorded(), cached: informer.GetStore(), faults: make(chan string, 100)}
	registration := add(t, informer, handler)
	run(t, informer)
	first := s.watched(t)
	eventually(t, "the handler has synced", registration.HasSynced)
	receive(t, handler.recorded, "the addition of one")
	receive(t, handler.recorded, "the addition of the other")
	var want []string
	versions := map[string]string{"a": "100", "b": "100"}
	for version := 101; version <= 140; version++ {
		name := []string{"a", "b"}[version/3%2]
		changed := it(name, strconv.Itoa(version))
		want = append(want, fmt.Sprintf("update %s@%s to %s@%d", name, versions[name], name, version))
		versions[name] = changed.ResourceVersion
		first.Modify(&changed)
	}
	handler.expect(t, want...)
	if len(handler.faults) > 0 {
		t.Error(<-handler.faults)
	}
}

func TestHandler_AddedLate_ReceivesTheCacheAsAnInitialList(t *testing.T) {
	s := newServer("5", it("a", "3"))
	informer := s.informer(t, 0)
	run(t, informer)
	first := s.watched(t)
	eventually(t, "the cache is filled", informer.HasSynced)
	late := newRecorded()
	registration := add(t, informer, late)
	late.expect(t, "add a@3 listed=true")
	eventually(t, "the handler has synced", registration.HasSynced)
	added := it("b", "6")
	first.Add(&added)
	late.expect(t, "add b@6 listed=false")
}

func TestHandler_HasSynced_WaitsForItsCalls(t *testing.T) {
	s := newServer("5", it("a", "3"))
	informer, slow := s.informer(t, 0), newBlocked()
	registration := add(t, informer, slow)
	run(t, informer)
	receive(t, slow.began, "the slow handler")
	eventually(t, "the informer has synced", informer.HasSynced)
	if registration.HasSynced() {
		t.Error("the handler has synced during its call")
	}
	close(slow.release)
	eventually(t, "the handler has synced", registration.HasSynced)
}

func TestHandler_Removed_LosesWhatIsPending(t *testing.T) {
	s := newServer("5", it("a", "3"))
	informer, slow, fast := s.informer(t, 0), newBlocked(), newRecorded()
	registration := add(t, informer, slow)
	add(t, informer, fast)
	run(t, informer)
	first := s.watched(t)
	receive(t, slow.began, "the slow handler")
	for _, version := range []string{"6", "7", "8"} {
		newer := it("a", version)
		first.Modify(&newer)
	}
	fast.expect(t, "add a@3 listed=true", "update a@3 to a@6", "update a@6 to a@7", "update a@7 to a@8")
	must(t, informer.RemoveEventHandler(registration))
	close(slow.release)
	slow.expect(t, "add a@3 listed=true")
	// The notification in flight may arrive, the later ones do not.
	for range 2 {
		newer := it("b", "9")
		first.Modify(&newer)
		receive(t, fast, "the change of b")
	}
	if n := len(slow.recorded); n > 1 {
		t.Errorf("after its removal the handler is called %d times, want at most once", n)
	}
}

func TestHandler_RemovesItself_RemovalDoesNotWait(t *testing.T) {
	s := newServer("5", it("a", "3"))
	informer, removed := s.informer(t, 0), make(chan error, 1)
	var registration cache.ResourceEventHandlerRegistration
	registration = add(t, informer, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { removed <- informer.RemoveEventHandler(registration) }})
	run(t, informer)
	if err := receive(t, removed, "the end of the removal"); err != nil {
		t.Error(err)
	}
}

func TestInformer_Goroutines_FiveAndTwoForEachHandler(t *testing.T) {
	for handlers := range 3 {
		t.Run(strconv.Itoa(handlers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				informer := newServer("5").informer(t, 0)
				for range handlers {
					add(t, informer, newRecorded())
				}
				ctx, cancel := context.WithCancel(t.Context())
				before := runtime.NumGoroutine()
				go informer.RunWithContext(ctx)
				synctest.Wait()
				if got, want := runtime.NumGoroutine()-before, 5+2*handlers; got != want {
					t.Errorf("an informer with %d handlers has %d goroutines, want %d", handlers, got, want)
				}
				cancel()
			})
		})
	}
}

func TestInformer_Stopped_StaysSo(t *testing.T) {
	s := newServer("5")
	informer := s.informer(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	informer.RunWithContext(ctx)
	lists := len(s.listed())
	informer.RunWithContext(t.Context())
	if n := len(s.listed()); n != lists || !informer.IsStopped() {
		t.Errorf("a stopped informer lists %d times", n-lists)
	}
	if _, err := informer.AddEventHandler(newRecorded()); err == nil {
		t.Error("a handler can be added to a stopped informer")
	}
}

func TestResync_SendsNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5", it("a", "3"))
		informer, with, without := s.informer(t, time.Second), newRecorded(), newRecorded()
		add(t, informer, with)
		never := time.Duration(0)
		_, err := informer.AddEventHandlerWithOptions(without, cache.HandlerOptions{ResyncPeriod: &never})
		must(t, err)
		run(t, informer)
		s.watched(t)
		with.expect(t, "add a@3 listed=true", "update a@3 to a@3", "update a@3 to a@3")
		if lists, calls := len(s.listed()), len(without); lists != 1 || calls != 1 {
			t.Errorf("there were %d lists, and %d calls of a handler without a period; want 1 and 1", lists, calls)
		}
	})
}

// A handler is among those that receive resyncs until the informer checks the periods, which one without resync never does.
func TestResync_UnchangedObjectIsListedAgain_IsDeliveredWithoutAPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("5", it("a", "3"))
		informer, calls := s.informer(t, 0), newRecorded()
		add(t, informer, calls)
		run(t, informer)
		first := s.watched(t)
		calls.expect(t, "add a@3 listed=true")
		first.Error(&errExpired.ErrStatus)
		calls.expect(t, "update a@3 to a@3")
	})
}
