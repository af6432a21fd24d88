/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ducks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// urlOf returns the address of a duck in a lister, or a text that describes the object without an address.
func urlOf(t *testing.T, lister cache.GenericLister, name string) string {
	t.Helper()
	obj, err := lister.ByNamespace("ns").Get(name)
	if apierrors.IsNotFound(err) {
		return "not found"
	}
	if err != nil {
		t.Fatal(err)
	}
	switch found := obj.(type) {
	case *duckv1.AddressableType:
		return found.Status.Address.URL.String()
	case *Malformed:
		return "malformed"
	default:
		t.Fatalf("the cache holds a %T", obj)
		return ""
	}
}

func mustList(t *testing.T, f *Factory) cache.GenericLister {
	t.Helper()
	var lister cache.GenericLister
	eventually(t, "the resource becomes readable", func() bool {
		var err error
		lister, err = f.Lister(ducks)
		return err == nil
	})
	return lister
}

func TestLister_Objects_AreFollowed(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://first")))
	factory, events := newFactory(t, server)
	lister := mustList(t, factory)

	if got := urlOf(t, lister, "a"); got != "http://first" {
		t.Errorf("the cache was not filled when Lister returned: %s", got)
	}
	server.put(newDuck("a", addressed("http://second")))
	eventually(t, "a change arrives", func() bool { return urlOf(t, lister, "a") == "http://second" })
	server.remove("a")
	eventually(t, "a deletion arrives", func() bool { return urlOf(t, lister, "a") == "not found" })
	want := []string{"add a", "update a", "delete a"}
	eventually(t, "the handler is called", func() bool { return slices.Equal(events.events(), want) })
}

// withAndWithoutStreaming runs a test with lists as streams through a watch, and without.
func withAndWithoutStreaming(t *testing.T, test func(*testing.T)) {
	t.Helper()
	for _, streams := range []bool{true, false} {
		t.Run(fmt.Sprintf("WatchListClient=%t", streams), func(t *testing.T) {
			featuretesting.SetFeatureDuringTest(t, features.WatchListClient, streams)
			test(t)
		})
	}
}

func TestLister_FirstCall_ReturnsAtOnce(t *testing.T) {
	server := newAPIServer(t)
	server.hold = make(chan struct{})
	factory, _ := newFactory(t, server)
	if lister, err := factory.Lister(ducks); lister != nil || !errors.Is(err, ErrNotSynced) {
		t.Errorf("Lister() = %v, %v, want ErrNotSynced", lister, err)
	}
}

// The server answers only after many requests, so that a blocked caller or a restarted list would never end.
func TestLister_SlowList_IsSyncedByOneRequest(t *testing.T) {
	withAndWithoutStreaming(t, func(t *testing.T) {
		server := newAPIServer(t)
		server.put(newDuck("a", addressed("http://a")))
		server.hold = make(chan struct{})
		factory, _ := newFactory(t, server)
		for range 10_000 {
			if _, err := factory.Lister(ducks); !errors.Is(err, ErrNotSynced) {
				t.Fatalf("Lister() = %v, want ErrNotSynced", err)
			}
		}
		eventually(t, "the server receives a request", func() bool { return server.requests() == 1 })
		close(server.hold)
		if got := urlOf(t, mustList(t, factory), "a"); got != "http://a" {
			t.Errorf("the lister has %s", got)
		}
		eventually(t, "the resource is watched", func() bool { return server.open() == 1 })
		if lists, watches := server.counts(); lists > 1 || lists+watches > 2 {
			t.Errorf("the server received %d list and %d watch requests", lists, watches)
		}
	})
}

func TestLister_OneResourceHangs_OthersAreRead(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://a")))
	server.hold, server.holds = make(chan struct{}), "geese"
	factory, _ := newFactory(t, server)
	for range 100 {
		if _, err := factory.Lister(geese); !errors.Is(err, ErrNotSynced) {
			t.Fatalf("Lister() = %v, want ErrNotSynced", err)
		}
	}
	mustList(t, factory)
	if _, err := factory.Lister(geese); !errors.Is(err, ErrNotSynced) {
		t.Errorf("Lister() = %v, want ErrNotSynced", err)
	}
}

func TestLister_ConcurrentCallers_ShareOneInformer(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://a")))
	factory, events := newFactory(t, server)
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() { mustList(t, factory) })
	}
	callers.Wait()
	if got := reflectors(); got != 1 {
		t.Errorf("%d informers run, want one", got)
	}
	if got := events.events(); !slices.Equal(got, []string{"add a"}) {
		t.Errorf("the handler received %q, want each object once", got)
	}
	if got := events.changed(); got != 1 {
		t.Errorf("%d changes were reported, want that it became readable", got)
	}
}

func TestLister_RefusedFromTheStart_ErrorIsReturnedAndRetried(t *testing.T) {
	for name, tc := range rejections {
		t.Run(name, func(t *testing.T) {
			withAndWithoutStreaming(t, func(t *testing.T) {
				server := newAPIServer(t)
				server.put(newDuck("a", addressed("http://a")))
				factory, events := newFactory(t, server)
				server.reject(tc.rejection)
				eventually(t, "the error is returned", func() bool {
					lister, err := factory.Lister(ducks)
					return lister == nil && tc.is(err)
				})
				eventually(t, "it is reported", func() bool { return events.changed() == 1 })
				before := server.requests()
				eventually(t, "the request is retried", func() bool { return server.requests() > before })
				server.reject(nil)
				if got := urlOf(t, mustList(t, factory), "a"); got != "http://a" {
					t.Errorf("once it is allowed the lister has %s", got)
				}
				eventually(t, "that it can be read is reported once", func() bool { return events.changed() == 2 })
			})
		})
	}
}

func TestLister_RefusedLater_LastObjectsAreKeptUntilItRecovers(t *testing.T) {
	for name, tc := range rejections {
		t.Run(name, func(t *testing.T) {
			withAndWithoutStreaming(t, func(t *testing.T) {
				server := newAPIServer(t)
				server.put(newDuck("a", addressed("http://first")))
				factory, events := newFactory(t, server)
				mustList(t, factory)

				server.reject(tc.rejection)
				server.put(newDuck("a", addressed("http://second")))
				var lister cache.GenericLister
				eventually(t, "the error is returned", func() bool {
					var err error
					lister, err = factory.Lister(ducks)
					return tc.is(err)
				})
				if got := urlOf(t, lister, "a"); got != "http://first" {
					t.Errorf("the lister has %s, want what was known before", got)
				}
				before := server.requests()
				for range 10_000 {
					if _, err := factory.Lister(ducks); err == nil {
						t.Fatal("the error was forgotten")
					}
				}
				if got := server.requests() - before; got > 1 {
					t.Errorf("10,000 calls took %d requests", got)
				}
				eventually(t, "the request is retried", func() bool { return server.requests() > before })
				if got := events.changed(); got != 2 {
					t.Errorf("%d changes were reported, want that it became readable and then was not", got)
				}

				server.reject(nil)
				eventually(t, "it recovers", func() bool { return urlOf(t, mustList(t, factory), "a") == "http://second" })
				eventually(t, "that is reported once", func() bool { return events.changed() == 3 })
			})
		})
	}
}

// The permission to list alone makes no resource readable.
func TestLister_OnlyWatchRefused_ChangeIsReportedOnce(t *testing.T) {
	withAndWithoutStreaming(t, func(t *testing.T) {
		server := newAPIServer(t)
		server.put(newDuck("a", addressed("http://a")))
		server.rejectWatches = forbidden()
		factory, events := newFactory(t, server)
		eventually(t, "the error is returned with the lister", func() bool {
			lister, err := factory.Lister(ducks)
			return lister != nil && apierrors.IsForbidden(err)
		})
		before, changes := server.requests(), events.changed()
		eventually(t, "the request is retried", func() bool { return server.requests() > before+2 })
		if got := events.changed(); got != changes || got > 2 {
			t.Errorf("%d changes were reported, %d of them before the retries", got, changes)
		}
	})
}

func TestLister_RefusalForAnotherReason_IsReported(t *testing.T) {
	server := newAPIServer(t)
	factory, events := newFactory(t, server)
	server.reject(forbidden())
	_, _ = factory.Lister(ducks)
	eventually(t, "the error is reported", func() bool { return events.changed() == 1 })
	server.reject(notFound())
	eventually(t, "the other one, too", func() bool { return events.changed() == 2 })
	if _, err := factory.Lister(ducks); !apierrors.IsNotFound(err) {
		t.Errorf("Lister() = %v, want the last error", err)
	}
}

func TestLister_OneRequestFails_NothingIsReported(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://first")))
	factory, events := newFactory(t, server)
	mustList(t, factory)
	server.failNext(1)
	server.put(newDuck("a", addressed("http://second")))
	eventually(t, "the next request succeeds", func() bool { return urlOf(t, mustList(t, factory), "a") == "http://second" })
	if got := events.changed(); got != 1 {
		t.Errorf("%d changes were reported, want one", got)
	}
}

func TestRetries_BackOff_EndsAtThirtySeconds(t *testing.T) {
	delay := New(t.Context(), nil, nil, nil, nil).retry.DelayFunc()
	last := time.Duration(0)
	for range 100 {
		last = delay()
		if last < time.Second || last > 30*time.Second {
			t.Fatalf("a request is repeated after %s", last)
		}
	}
	if last < 20*time.Second {
		t.Errorf("the hundredth retry comes after %s", last)
	}
}

func TestLister_WatchExpires_NothingIsReported(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://first")))
	factory, events := newFactory(t, server)
	mustList(t, factory)
	eventually(t, "the resource is watched", func() bool { return server.open() == 1 })
	server.expire()
	server.put(newDuck("a", addressed("http://second")))
	eventually(t, "the objects are listed again", func() bool { return urlOf(t, mustList(t, factory), "a") == "http://second" })
	if got := events.changed(); got != 1 {
		t.Errorf("%d changes were reported, want one", got)
	}
}

func TestStop_LaterLister_StartsAnotherInformer(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://first")))
	factory, events := newFactory(t, server)
	mustList(t, factory)

	factory.Stop(func(gvr schema.GroupVersionResource) bool { return gvr == ducks })
	eventually(t, "no goroutine and no request is left", func() bool { return server.open() == 0 && reflectors() == 0 })
	server.put(newDuck("a", addressed("http://second")))
	server.put(newDuck("b", addressed("http://b")))
	if got := urlOf(t, mustList(t, factory), "a"); got != "http://second" {
		t.Errorf("the next lister has %s, want what the object became", got)
	}
	eventually(t, "the handler receives the objects", func() bool {
		got := events.events()
		slices.Sort(got)
		return slices.Equal(got, []string{"add a", "add a", "add b"})
	})
}

func TestStop_ManyTimes_LeavesNoGoroutine(t *testing.T) {
	server := newAPIServer(t)
	factory, events := newFactory(t, server)
	server.reject(notFound())
	all := func(schema.GroupVersionResource) bool { return true }
	for i := range 50 {
		_, _ = factory.Lister(ducks)
		if i%2 == 0 {
			eventually(t, "the rejection is returned", func() bool {
				_, err := factory.Lister(ducks)
				return apierrors.IsNotFound(err)
			})
		}
		factory.Stop(all)
	}
	eventually(t, "no goroutine is left", func() bool { return reflectors() == 0 && syncWaiters() == 0 })
	if got := events.changed(); got > 50 {
		t.Errorf("%d changes were reported by 50 informers", got)
	}
}

func TestStop_OtherResources_KeepRunning(t *testing.T) {
	server := newAPIServer(t)
	factory, _ := newFactory(t, server)
	_, _ = factory.Lister(geese)
	lister := mustList(t, factory)

	factory.Stop(func(gvr schema.GroupVersionResource) bool { return gvr == geese })
	eventually(t, "one informer ends", func() bool { return reflectors() == 1 })
	server.put(newDuck("a", addressed("http://a")))
	eventually(t, "the other continues", func() bool { return urlOf(t, lister, "a") == "http://a" })
}

func TestStop_FirstListUnderWay_IsReportedToNobody(t *testing.T) {
	server := newAPIServer(t)
	server.hold = make(chan struct{})
	factory, events := newFactory(t, server)
	_, _ = factory.Lister(ducks)
	eventually(t, "the server receives a request", func() bool { return server.requests() == 1 })
	factory.Stop(func(schema.GroupVersionResource) bool { return true })
	eventually(t, "the informer ends", func() bool { return reflectors() == 0 })
	close(server.hold)
	mustList(t, factory)
	// The callback follows once the list is readable.
	eventually(t, "the second informer is reported", func() bool { return events.changed() > 0 })
	if got := events.changed(); got != 1 {
		t.Errorf("%d changes were reported, want that of the second informer alone", got)
	}
}

func TestLister_UnusedForAnHour_InformerIsStoppedUnlessUsedOnceMore(t *testing.T) {
	server := newAPIServer(t)
	factory, events := newFactory(t, server)
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	factory.mu.Lock()
	factory.clock = clock
	factory.mu.Unlock()
	mustList(t, factory)
	eventually(t, "that it is readable is reported", func() bool { return events.changed() == 1 })
	sweepAfter := func(d time.Duration) {
		clock.SetTime(clock.Now().Add(d))
		factory.stopUnused(t.Context())
	}
	sweepAfter(unusedAfter - 1)
	if got := events.changed(); got != 1 {
		t.Errorf("%d changes were reported after less than %s", got, unusedAfter)
	}
	sweepAfter(1)
	if got := events.changed(); got != 2 {
		t.Errorf("%d changes were reported after %s, want that callers are enqueued", got, unusedAfter)
	}
	mustList(t, factory)
	sweepAfter(sweepEvery)
	sweepAfter(unusedAfter - sweepEvery)
	if got, changes := reflectors(), events.changed(); got != 1 || changes != 3 {
		t.Errorf("%d informers run, and %d changes were reported, want that callers are enqueued again", got, changes)
	}
	sweepAfter(sweepEvery)
	eventually(t, "the informer ends", func() bool { return reflectors() == 0 && server.open() == 0 })
}

func TestFactory_ContextEnds_InformersEnd(t *testing.T) {
	server := newAPIServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	factory := New(ctx, server, &duckv1.AddressableType{}, nil, func(sets.Set[schema.GroupVersion]) {})
	mustList(t, factory)
	cancel()
	_, _ = factory.Lister(geese)
	eventually(t, "no goroutine and no request is left", func() bool { return server.open() == 0 && reflectors() == 0 && syncWaiters() == 0 })
}
