/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

type partial = metav1.PartialObjectMetadata

// started is a queue of an observer that runs on every replica, until the test ends.
func started(ctx context.Context, t *testing.T, name string, handler Handler[*partial], options ...Options[*partial]) *queue[*partial] {
	t.Helper()
	q := newQueue(observerOf(ctx, t, name, handler, options...), reconciler.UniversalBucket())
	t.Cleanup(q.stop)
	return q
}

// observerOf is an observer of the metadata of Secrets.
func observerOf(ctx context.Context, t *testing.T, name string, handler Handler[*partial], options ...Options[*partial]) *observer[*partial] {
	t.Helper()
	d, err := define(name, Metadata(corev1.SchemeGroupVersion.WithResource("secrets")), handler, options)
	if err != nil {
		t.Fatal(err)
	}
	return d.observer(ctx)
}

// sleeping is a queue whose handler has been called with an object, and sleeps until the test ends.
func sleeping(t *testing.T) *queue[*partial] {
	t.Helper()
	began, release := make(chan struct{}), make(chan struct{})
	q := started(t.Context(), t, "it", func(context.Context, Event[*partial]) error {
		close(began)
		<-release
		return nil
	})
	t.Cleanup(func() {
		q.stop()
		close(release)
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
	if n := q.ready.Len() + q.running(); n != keys+1 {
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
	if records, ready := len(q.records), q.ready.Len(); records != 1 || ready > 0 {
		t.Errorf("%d records and %d waiting ones are left of %d objects", records, ready, objects)
	}
}

func TestQueue_ObjectIsDeletedDuringAFailingCall_TheNextOneIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := true
		var received []string
		q := started(t.Context(), t, "it", func(_ context.Context, e Event[*partial]) error {
			if failing {
				pass(time.Second)
				return errors.New("induced")
			}
			received = append(received, fmt.Sprint(e.Type, " ", e.Object.ResourceVersion))
			return nil
		})
		q.OnAdd(object(1, 1), false)
		synctest.Wait()
		q.OnDelete(object(1, 2))
		pass(time.Minute)
		failing = false
		q.OnAdd(object(1, 3), false)
		synctest.Wait()
		if !slices.Equal(received, []string{"Added 3"}) {
			t.Errorf("received are %q, want the object that was created again", received)
		}
	})
}

func TestQueue_Distinct_OldIsTheStateReceivedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var received []string
		q := started(t.Context(), t, "it", func(_ context.Context, e Event[*partial]) error {
			text := fmt.Sprintf("%v %s ×%d", e.Type, e.Object.ResourceVersion, e.Folded)
			if e.Old != nil {
				text += " after " + e.Old.ResourceVersion
			}
			if e.Resync {
				text += ", resync"
			}
			received = append(received, text)
			return nil
		}, Options[*partial]{Resync: time.Second, Distinct: func(o *partial) any { return len(o.ResourceVersion) }})
		notify := func(version int) {
			q.OnUpdate(nil, object(1, version))
			synctest.Wait()
		}
		for _, version := range []int{1, 2, 2, 3, 10, 11} {
			notify(version)
		}
		q.OnDelete(object(1, 12))
		synctest.Wait()
		want := []string{"Added 1 ×1", "Updated 2 ×2 after 1, resync", "Updated 10 ×2 after 2", "Deleted 12 ×2 after 10"}
		if !slices.Equal(received, want) {
			t.Errorf("received are %q, want %q", received, want)
		}
	})
}

func TestQueue_DistinctValueCannotBeCompared_EventIsDelivered(t *testing.T) {
	for name, distinct := range map[string]func(*partial) any{
		"Slice": func(*partial) any { return []int{1} }, "Map": func(*partial) any { return map[string]int{} }, "Panic": func(*partial) any { panic("induced") },
	} {
		t.Run(name, func(t *testing.T) {
			received := 0
			core, logs := zapobserver.New(zap.ErrorLevel)
			q := newQueue(observerOf(logging.WithLogger(t.Context(), zap.New(core).Sugar()), t, "it", func(context.Context, Event[*partial]) error {
				received++
				return nil
			}, Options[*partial]{Distinct: distinct}), reconciler.UniversalBucket())
			q.startWorker = func() {}
			defer q.stop()
			for version := range 2 {
				q.OnUpdate(nil, object(1, version))
				q.work()
			}
			if received != 2 {
				t.Errorf("%d events are received, want 2", received)
			}
			if n := logs.FilterField(zap.String("in", "Distinct")).FilterField(zap.String("key", "ns/1")).Len(); n != 1 {
				t.Errorf("the panic is logged %d times with its key, want once", n)
			}
		})
	}
}

func TestQueue_ObjectOfAnotherType_IsCountedAndTheRestIsDelivered(t *testing.T) {
	name := kindOf(t)
	var received []string
	core, logs := zapobserver.New(zap.ErrorLevel)
	q := newQueue(observerOf(logging.WithLogger(t.Context(), zap.New(core).Sugar()), t, name, func(_ context.Context, e Event[*partial]) error {
		received = append(received, e.Name.Name)
		return nil
	}), reconciler.UniversalBucket())
	q.startWorker = func() {}
	defer q.stop()
	q.OnAdd(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, false)
	q.OnAdd(object(1, 1), false)
	if q.work(); !slices.Equal(received, []string{"1"}) {
		t.Errorf("received are %q, want the object of the type", received)
	}
	if n := measured(t, "observer.mismatches", attributes{"observer": name}); n != 1 {
		t.Errorf("%v mismatches are counted, want 1", n)
	}
	entries := logs.FilterField(zap.String("observer", name)).All()
	if len(entries) != 1 || entries[0].ContextMap()["want"] != "*v1.PartialObjectMetadata" || entries[0].ContextMap()["got"] != "*v1.Secret" {
		t.Errorf("logged is %+v, want both types", entries)
	}
}

func TestTransform_Fails_IsLoggedAndCounted(t *testing.T) {
	source := kindOf(t)
	core, logs := zapobserver.New(zap.ErrorLevel)
	transform := reporting(logging.WithLogger(t.Context(), zap.New(core).Sugar()), source, func(obj any) (any, error) {
		if obj.(*partial).Name == "2" {
			return nil, errors.New("induced")
		}
		return obj, nil
	})
	if got, err := transform(object(1, 1)); err != nil || got.(*partial).Name != "1" {
		t.Errorf("got %v, %v, want the object", got, err)
	}
	if got, err := transform(object(2, 1)); err != nil || got.(*partial).Name != "2" {
		t.Errorf("got %v, %v, want the object as it is", got, err)
	}
	if n := measured(t, "observer.transform.errors", attributes{"source": source}); n != 1 {
		t.Errorf("%v failures are counted, want 1", n)
	}
	if entries := logs.FilterField(zap.String("key", "ns/2")).Len(); entries != 1 {
		t.Errorf("%d failures are logged with the key, want 1", entries)
	}
}
