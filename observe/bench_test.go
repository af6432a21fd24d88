/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

// states are those of one object at consecutive versions, so that each update is a change.
func states(b *testing.B) func() (before, after *corev1.Secret) {
	b.Helper()
	all := make([]*corev1.Secret, 1<<16)
	for version := range all {
		all[version] = state("uid", version)
	}
	at := 0
	return func() (before, after *corev1.Secret) {
		before = all[at%len(all)]
		at++
		return before, all[at%len(all)]
	}
}

// BenchmarkInline calls an observer on the goroutine of the informer, and next to it a handler of client-go.
func BenchmarkInline(b *testing.B) {
	received := 0
	b.Run("client-go", func(b *testing.B) {
		next := states(b)
		var bare cache.ResourceEventHandler = cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, after any) {
			if _, ok := after.(*corev1.Secret); ok {
				received++
			}
		}}
		b.ReportAllocs()
		for b.Loop() {
			before, after := next()
			bare.OnUpdate(before, after)
		}
	})
	b.Run("observe", func(b *testing.B) {
		next := states(b)
		d, err := define("inline", ofSecrets(nil), func(context.Context, Event[*corev1.Secret]) error {
			received++
			return nil
		}, []Options[*corev1.Secret]{{Inline: true}})
		if err != nil {
			b.Fatal(err)
		}
		observer := &inline[*corev1.Secret]{observer: d.observer(b.Context())}
		b.ReportAllocs()
		for b.Loop() {
			before, after := next()
			observer.OnUpdate(before, after)
		}
	})
}

// BenchmarkQueued calls an observer from its queue. Next to it is the usual way to reconcile an object of a cache: a handler of client-go that
// adds the key to a work queue.
func BenchmarkQueued(b *testing.B) {
	objects := cache.NewStore(cache.MetaNamespaceKeyFunc)
	received := 0
	read := func(b *testing.B, key string) {
		b.Helper()
		if _, ok, err := objects.GetByKey(key); err != nil || !ok {
			b.Fatalf("the object is in the cache: %t, %v", ok, err)
		}
		received++
	}
	if err := objects.Add(state("uid", 1)); err != nil {
		b.Fatal(err)
	}
	b.Run("client-go", func(b *testing.B) {
		next := states(b)
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
		defer queue.ShutDown()
		var bare cache.ResourceEventHandler = cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, after any) {
			if key, err := cache.MetaNamespaceKeyFunc(after); err == nil {
				queue.Add(key)
			}
		}}
		b.ReportAllocs()
		for b.Loop() {
			bare.OnUpdate(next())
			key, _ := queue.Get()
			read(b, key)
			queue.Forget(key)
			queue.Done(key)
		}
	})
	b.Run("observe", func(b *testing.B) {
		next := states(b)
		d, err := define("queued", ofSecrets(nil), func(context.Context, Event[*corev1.Secret]) error {
			received++
			return nil
		}, []Options[*corev1.Secret]{{Scope: EveryReplica}})
		if err != nil {
			b.Fatal(err)
		}
		q := newQueue(d.observer(b.Context()), reconciler.UniversalBucket())
		q.startWorker = func() {}
		defer q.stop()
		q.OnAdd(state("uid", 0), false)
		b.ReportAllocs()
		for b.Loop() {
			q.OnUpdate(next())
			q.work()
		}
	})
}

// BenchmarkNeighbors measures the time from a change to the call of a fast observer. The metric p99/alone compares one that has a slow, a failing
// and a panicking observer next to it, on the same source, with one that has none.
func BenchmarkNeighbors(b *testing.B) {
	var alone, together []time.Duration
	for b.Loop() {
		alone = append(alone, latencies(b, nil)...)
		together = append(together, latencies(b, map[string]Handler[*corev1.Secret]{
			"slow": func(context.Context, Event[*corev1.Secret]) error {
				time.Sleep(10 * time.Millisecond) //nolint:forbidigo // it is slow
				return nil
			},
			"failing":   func(context.Context, Event[*corev1.Secret]) error { return errors.New("induced") },
			"panicking": func(context.Context, Event[*corev1.Secret]) error { panic("induced") },
		})...)
	}
	b.ReportMetric(float64(percentile99(together))/float64(percentile99(alone)), "p99/alone")
	b.ReportMetric(float64(percentile99(alone).Microseconds()), "µs-alone")
}

func percentile99(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*99/100]
}

// latencies returns those of 1,000 changes, 1 ms apart.
func latencies(b *testing.B, neighbors map[string]Handler[*corev1.Secret]) []time.Duration {
	b.Helper()
	const changes = 1000
	ctx, cancel := context.WithCancel(logging.WithLogger(b.Context(), zap.NewNop().Sugar()))
	defer cancel()
	ctx, _ = attach(ctx)
	server := newAPIServer()
	var mu sync.Mutex
	written := map[int]time.Time{}
	var measured []time.Duration
	done := make(chan struct{})
	subscribe := func(name string, handler Handler[*corev1.Secret]) {
		subscription, err := Subscribe(ctx, name, ofSecrets(server), handler)
		if err != nil {
			b.Fatal(err)
		}
		for !subscription.HasSynced() {
			time.Sleep(time.Millisecond) //nolint:forbidigo // a condition without an event
		}
	}
	subscribe("fast", func(_ context.Context, e Event[*corev1.Secret]) error {
		mu.Lock()
		defer mu.Unlock()
		version := versionOf(e.Object)
		measured = append(measured, time.Since(written[version]))
		if version > changes {
			close(done)
		}
		return nil
	})
	for name, handler := range neighbors {
		subscribe(name, handler)
	}
	for n := range changes {
		mu.Lock()
		written[n+2] = time.Now()
		mu.Unlock()
		server.write(strconv.Itoa(n % 100))
		time.Sleep(time.Millisecond) //nolint:forbidigo // the rate of the load
	}
	<-done
	return measured
}
