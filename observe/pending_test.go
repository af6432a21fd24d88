/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

type partial = metav1.PartialObjectMetadata

// sleeping is a queue whose handler has been called with an object, and sleeps until the test ends.
func sleeping(t *testing.T) *queue[*partial] {
	t.Helper()
	began, release := make(chan struct{}), make(chan struct{})
	d, err := define("it", Metadata(corev1.SchemeGroupVersion.WithResource("secrets")), func(context.Context, Event[*partial]) error {
		close(began)
		<-release
		return nil
	}, []Options[*partial]{{Scope: EveryReplica}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	q := newQueue(d.observer(ctx))
	ended := make(chan error, 1)
	go func() { ended <- q.impl.RunContext(ctx, 1) }()
	t.Cleanup(func() {
		q.stop()
		close(release)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	q.OnAdd(object(-1, 1), true)
	select {
	case <-began:
	case <-time.After(time.Minute):
		t.Fatal("the handler is not called")
	}
	return q
}

func object(number, version int) *partial {
	name := strconv.Itoa(number)
	return &partial{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: strconv.Itoa(version)}}
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func TestQueue_HandlerSleeps_HeapDependsOnTheNumberOfKeysAlone(t *testing.T) {
	const keys, changes = 10_000, 1_000_000
	q := sleeping(t)
	version := 1
	change := func(times int) {
		for i := range times {
			version++
			q.OnUpdate(nil, object(i%keys, version))
		}
	}
	change(2 * keys)
	before := heap()
	change(changes - 2*keys)
	after := heap()
	t.Logf("%d bytes after %d changes, and %d after %d", before, 2*keys, after, changes)
	if after > before+before/20 {
		t.Errorf("the heap has %d bytes after %d changes, and %d after %d; want at most 5 %% more", before, 2*keys, after, changes)
	}
	if n := q.undelivered(); n != keys+1 {
		t.Errorf("%d objects have pending events, want %d", n, keys+1)
	}
}

func TestQueue_HandlerSleeps_ObjectsThatHaveGoneLeaveNothing(t *testing.T) {
	const objects = 10_000
	q := sleeping(t)
	for i := range objects {
		q.OnAdd(object(i, i), false)
		q.OnDelete(object(i, i))
	}
	if records, waiting, order, queued := len(q.records), q.backlog.waiting.Len(), len(q.backlog.order), q.impl.WorkQueue().Len(); records != 1 || waiting > 1 ||
		order > 2*mostStale || queued > 2 {
		t.Errorf("%d records, %d waiting keys, %d in order and %d queued keys are left of %d objects", records, waiting, order, queued, objects)
	}
}

func TestBacklog_KeyIsRemovedAndAddedOften_TakesNoMoreRoom(t *testing.T) {
	r, impl := newRecorder(t)
	defer impl.WorkQueue().ShutDown()
	for i := range 10 * workers {
		// The queue is full.
		impl.EnqueueKey(named(fmt.Sprint("urgent", i)))
	}
	for range 100 * mostStale {
		r.backlog.Add(named("it"))
		r.backlog.Remove(named("it"))
	}
	if n := len(r.backlog.order); n > 3*mostStale || r.backlog.waiting.Len() != 0 {
		t.Errorf("%d keys are kept, of which %d wait", n, r.backlog.waiting.Len())
	}
}
