/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package duckinformer

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// urlOf is the address of a duck as a lister has it, or what is there instead.
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
	lister, err := f.Lister(t.Context(), ducks)
	if err != nil {
		t.Fatal(err)
	}
	return lister
}

func TestListerFollowsTheObjects(t *testing.T) {
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
	eventually(t, "the handler is told", func() bool { return slices.Equal(events.events(), want) })
}

func TestGetReturnsTheInformerOfTheLister(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://a")))
	factory, _ := newFactory(t, server)
	informer, lister, err := duck.InformerFactory(factory).Get(t.Context(), ducks)
	if err != nil {
		t.Fatal(err)
	}
	fromLister, err := lister.ByNamespace("ns").Get("a")
	if err != nil {
		t.Fatal(err)
	}
	inNamespace, err := informer.GetIndexer().ByIndex(cache.NamespaceIndex, "ns")
	if err != nil || len(inNamespace) != 1 || inNamespace[0] != fromLister {
		t.Errorf("the informer has %v (%v), its lister %v", inNamespace, err, fromLister)
	}

	server.refuse(forbidden())
	factory.Stop(func(schema.GroupVersionResource) bool { return true })
	if informer, lister, err := factory.Get(t.Context(), ducks); !apierrors.IsForbidden(err) || informer != nil || lister != nil {
		t.Errorf("Get() = %v, %v, %v, want nothing and that it is forbidden", informer, lister, err)
	}
}

func TestOneInformerForConcurrentCallers(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://a")))
	factory, events := newFactory(t, server)

	listers := make([]cache.GenericLister, 50)
	var callers sync.WaitGroup
	for i := range listers {
		callers.Go(func() {
			var err error
			if listers[i], err = factory.Lister(t.Context(), ducks); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	for _, lister := range listers {
		if got := urlOf(t, lister, "a"); got != "http://a" {
			t.Fatalf("one caller sees %s", got)
		}
	}
	if lists, watches, _ := server.counts(); lists != 1 || watches != 1 {
		t.Errorf("%d callers made %d lists and %d watches, want one of each", len(listers), lists, watches)
	}
	if got := reflectors(); got != 1 {
		t.Errorf("%d informers run, want one", got)
	}
	if got := events.events(); !slices.Equal(got, []string{"add a"}) {
		t.Errorf("the handler was told %q, want each object once", got)
	}
}

func TestRefusalSurfacesAndIsTriedAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		refusal *apierrors.StatusError
		is      func(error) bool
	}{
		"forbidden": {forbidden(), apierrors.IsForbidden},
		"not found": {notFound(), apierrors.IsNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			server := newAPIServer(t)
			server.put(newDuck("a", addressed("http://a")))
			factory, _ := newFactory(t, server)

			server.refuse(tc.refusal)
			for range 2 {
				if lister, err := factory.Lister(t.Context(), ducks); !tc.is(err) {
					t.Fatalf("got %v, %v", lister, err)
				}
			}
			if got := reflectors(); got != 0 {
				t.Errorf("%d informers run though the list was refused", got)
			}
			server.refuse(nil)
			if got := urlOf(t, mustList(t, factory), "a"); got != "http://a" {
				t.Errorf("once it is allowed the lister has %s", got)
			}
		})
	}
}

func TestCacheThatDoesNotFillIsAnErrorAndTriedAgain(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://a")))
	server.hold = make(chan struct{})
	factory, _ := newFactory(t, server)
	factory.timeout = 50 * time.Millisecond

	if lister, err := factory.Lister(t.Context(), ducks); !errors.Is(err, ErrNotSynced) {
		t.Fatalf("got %v, %v, want ErrNotSynced", lister, err)
	}
	eventually(t, "the informer ends", func() bool { return reflectors() == 0 })
	close(server.hold)
	factory.timeout = SyncTimeout
	if got := urlOf(t, mustList(t, factory), "a"); got != "http://a" {
		t.Errorf("the next lister has %s", got)
	}
}

func TestCallerThatGivesUpDoesNotTakeTheInformerFromOthers(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://a")))
	server.hold = make(chan struct{})
	factory, _ := newFactory(t, server)

	impatient, giveUp := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	go func() {
		_, err := factory.Lister(impatient, ducks)
		gaveUp <- err
	}()
	eventually(t, "the informer starts", func() bool { return reflectors() == 1 })
	giveUp()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("whoever gave up got %v, want its context's error", err)
	}
	close(server.hold)
	if got := urlOf(t, mustList(t, factory), "a"); got != "http://a" {
		t.Errorf("another caller has %s", got)
	}
	if got := reflectors(); got != 1 {
		t.Errorf("%d informers run, want the first one still", got)
	}
}

func TestStopEndsAnInformerAndALaterListerStartsAnother(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://first")))
	factory, events := newFactory(t, server)
	mustList(t, factory)

	factory.Stop(func(gvr schema.GroupVersionResource) bool { return gvr == ducks })
	eventually(t, "no goroutine and no request is left", func() bool {
		_, _, open := server.counts()
		return open == 0 && reflectors() == 0
	})
	lists, watches, _ := server.counts()
	server.put(newDuck("a", addressed("http://second")))
	server.put(newDuck("b", addressed("http://b")))

	lister := mustList(t, factory)
	if l, w, _ := server.counts(); l != lists+1 || w != watches+1 {
		t.Errorf("%d lists and %d watches after the stop, want one of each for the next lister", l-lists, w-watches)
	}
	if got := urlOf(t, lister, "a"); got != "http://second" {
		t.Errorf("the next lister has %s, want what the object became", got)
	}
	eventually(t, "the handler is told of what there is", func() bool {
		got := events.events()
		slices.Sort(got)
		return slices.Equal(got, []string{"add a", "add a", "add b"})
	})
}

func TestStopLeavesOthersRunning(t *testing.T) {
	server := newAPIServer(t)
	factory, _ := newFactory(t, server)
	geese := ducks
	geese.Resource = "geese"
	if _, err := factory.Lister(t.Context(), geese); err != nil {
		t.Fatal(err)
	}
	lister := mustList(t, factory)

	factory.Stop(func(gvr schema.GroupVersionResource) bool { return gvr == geese })
	eventually(t, "one informer ends", func() bool { return reflectors() == 1 })
	server.put(newDuck("a", addressed("http://a")))
	eventually(t, "the other goes on", func() bool { return urlOf(t, lister, "a") == "http://a" })
}

func TestStopWhileStartingFreesWhoWaits(t *testing.T) {
	server := newAPIServer(t)
	server.hold = make(chan struct{})
	factory, _ := newFactory(t, server)
	waited := make(chan error, 1)
	go func() {
		_, err := factory.Lister(t.Context(), ducks)
		waited <- err
	}()
	eventually(t, "the informer starts", func() bool { return reflectors() == 1 })
	factory.Stop(func(schema.GroupVersionResource) bool { return true })
	if err := <-waited; err == nil {
		t.Error("got a lister of an informer that was stopped")
	}
	close(server.hold)
	mustList(t, factory)
}

func TestFactoryEndsWithItsContext(t *testing.T) {
	server := newAPIServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	factory := New(ctx, server, &duckv1.AddressableType{}, (&recorder{}).handler())
	mustList(t, factory)
	cancel()
	eventually(t, "no goroutine and no request is left", func() bool {
		_, _, open := server.counts()
		return open == 0 && reflectors() == 0
	})
	geese := ducks
	geese.Resource = "geese"
	if _, err := factory.Lister(t.Context(), geese); !errors.Is(err, context.Canceled) {
		t.Errorf("a lister of a factory that ended gives %v, want its context's error", err)
	}
}
