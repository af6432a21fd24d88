/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package events

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/buffer"
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
	// The notification that was on its way may arrive, the ones after it do not.
	for range 2 {
		newer := it("b", "9")
		first.Modify(&newer)
		receive(t, fast, "the change of b")
	}
	if n := len(slow.recorded); n > 1 {
		t.Errorf("after its removal the handler is called %d times, want at most once", n)
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
}

// A handler is among those that receive resyncs until the informer checks the periods, which one without resync never does.
func TestResync_UnchangedObjectIsListedAgain_IsDeliveredWithoutAPeriod(t *testing.T) {
	s := newServer("5", it("a", "3"))
	informer, calls := s.informer(t, 0), newRecorded()
	add(t, informer, calls)
	run(t, informer)
	first := s.watched(t)
	calls.expect(t, "add a@3 listed=true")
	first.Error(&errExpired.ErrStatus)
	calls.expect(t, "update a@3 to a@3")
}

// panicking is set for the process that TestHandler_Panics starts.
const panicking = "EVENTS_TEST_PANICS"

func TestHandler_Panics_ProcessEnds(t *testing.T) {
	if os.Getenv(panicking) != "" {
		panicInHandler(t, func(cache.ResourceEventHandlerRegistration) {})
		return
	}
	said, err := rerun(t)
	if err == nil || !strings.Contains(said, "induced panic") {
		t.Errorf("the process ends with %v:\n%s", err, said)
	}
}

func TestHandler_PanicsInTheInitialListWithReallyCrashOff_NeverSyncs(t *testing.T) {
	if os.Getenv(panicking) == "" {
		if said, err := rerun(t); err != nil {
			t.Errorf("the process ends with %v:\n%s", err, said)
		}
		return
	}
	utilruntime.ReallyCrash = false
	panicInHandler(t, func(registration cache.ResourceEventHandlerRegistration) {
		if registration.HasSynced() {
			t.Error("the handler has synced")
		}
	})
}

// panicInHandler has a handler panic with the first object, and calls then once it has been called with the second one.
func panicInHandler(t *testing.T, then func(cache.ResourceEventHandlerRegistration)) {
	t.Helper()
	s := newServer("5", it("a", "3"))
	informer, after := s.informer(t, 0), make(chan struct{}, 1)
	registration := add(t, informer, cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*corev1.ConfigMap).Name == "a" {
			panic("induced panic")
		}
		after <- struct{}{}
	}})
	run(t, informer)
	added := it("b", "6")
	s.watched(t).Add(&added)
	receive(t, after, "the second object")
	then(registration)
}

// rerun runs the test in a process of its own.
func rerun(t *testing.T) (string, error) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	command := exec.CommandContext(t.Context(), self, "-test.run", "^"+t.Name()+"$")
	command.Env = append(os.Environ(), panicking+"=1")
	said, err := command.CombinedOutput()
	return string(said), err
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
