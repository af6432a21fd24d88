/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/reconciler"
)

func ignore(context.Context, Event[*metav1.PartialObjectMetadata]) error { return nil }

func TestDefine_Mistake_IsNamed(t *testing.T) {
	type options = Options[*metav1.PartialObjectMetadata]
	secrets := corev1.SchemeGroupVersion.WithResource("secrets")
	for want, tc := range map[string]struct {
		name      string
		qualifier Qualifier
		handler   Handler[*metav1.PartialObjectMetadata]
		options   []options
	}{
		"the name must not be empty":          {handler: ignore},
		"the handler must not be nil":         {name: "it"},
		"at most one Options, not 2":          {name: "it", handler: ignore, options: make([]options, 2)},
		`Labels("=")`:                         {name: "it", handler: ignore, qualifier: Labels("=")},
		`Fields("name")`:                      {name: "it", handler: ignore, qualifier: Fields("name")},
		"Options.Scope: LeaderOnly is for":    {name: "it", handler: ignore, options: []options{{Inline: true, Scope: LeaderOnly}}},
		"Options.Scope: must be":              {name: "it", handler: ignore, options: []options{{Scope: 9}}},
		"Options.Workers: the informer":       {name: "it", handler: ignore, options: []options{{Inline: true, Workers: 2}}},
		"Options.Workers: must be at least 1": {name: "it", handler: ignore, options: []options{{Workers: -1}}},
		"Options.Resync: must be at least 1s": {name: "it", handler: ignore, options: []options{{Resync: time.Millisecond}}},
		"Options.Types: must be of Added":     {name: "it", handler: ignore, options: []options{{Types: []Type{7}}}},
	} {
		t.Run(want, func(t *testing.T) {
			var qualifiers []Qualifier
			if tc.qualifier != nil {
				qualifiers = append(qualifiers, tc.qualifier)
			}
			_, err := define(tc.name, Metadata(secrets, qualifiers...), tc.handler, tc.options)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		})
	}
	if _, err := define("it", Source[*metav1.PartialObjectMetadata]{}, ignore, nil); err == nil || !strings.Contains(err.Error(), "source") {
		t.Errorf("of the zero Source: got %v, want an error about the source", err)
	}
	if _, err := define("it", Metadata(secrets, Named("ns", "name"), Transform(DropManagedFields)), ignore, nil); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

func TestSubscribe_ContextOfNoProcess_IsAnError(t *testing.T) {
	_, err := Subscribe(t.Context(), "it", Metadata(corev1.SchemeGroupVersion.WithResource("secrets")), ignore)
	if err == nil || !strings.Contains(err.Error(), "injection") {
		t.Errorf("got %v, want an error about injection", err)
	}
}

// TestInline_Event_AllocatesNothing counts allocations, which do not depend on the machine.
func TestInline_Event_AllocatesNothing(t *testing.T) {
	var received int
	d, err := define("it", Metadata(corev1.SchemeGroupVersion.WithResource("secrets")), func(context.Context, Event[*metav1.PartialObjectMetadata]) error {
		received++
		return nil
	}, []Options[*metav1.PartialObjectMetadata]{{Inline: true}})
	if err != nil {
		t.Fatal(err)
	}
	i := newInline(d.observer(t.Context()))
	var before, after any = metadataAt("1"), metadataAt("2")
	allocated := testing.AllocsPerRun(1000, func() {
		i.OnAdd(before, false)
		i.OnUpdate(before, after)
		i.OnDelete(after)
	})
	if allocated != 0 || received == 0 {
		t.Errorf("three events allocate %v times, want 0; received were %d", allocated, received)
	}
}

// An informer repeats unchanged objects to handlers without a resync period after a list, until it has checked these periods.
func TestInline_UnchangedObject_IsDeliveredOnlyWithAResync(t *testing.T) {
	for _, resync := range []time.Duration{0, time.Second} {
		var received []Event[*metav1.PartialObjectMetadata]
		d, err := define("it", Metadata(corev1.SchemeGroupVersion.WithResource("secrets")), func(_ context.Context, e Event[*metav1.PartialObjectMetadata]) error {
			received = append(received, e)
			return nil
		}, []Options[*metav1.PartialObjectMetadata]{{Inline: true, Resync: resync}})
		if err != nil {
			t.Fatal(err)
		}
		newInline(d.observer(t.Context())).OnUpdate(metadataAt("1"), metadataAt("1"))
		if got := len(received) == 1 && received[0].Resync; got != (resync > 0) {
			t.Errorf("with a resync of %v received are %+v", resync, received)
		}
	}
}

func TestShutdown_InlineCallIsRunning_EndsAtTheDeadline(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	d, err := define("it", Metadata(corev1.SchemeGroupVersion.WithResource("secrets")), func(context.Context, Event[*metav1.PartialObjectMetadata]) error {
		close(began)
		<-release
		return nil
	}, []Options[*metav1.PartialObjectMetadata]{{Inline: true}})
	if err != nil {
		t.Fatal(err)
	}
	i := newInline(d.observer(t.Context()))
	go i.OnAdd(metadataAt("1"), false)
	<-began
	shutdown := func(ctx context.Context) error {
		hubs.add(&hub{stations: map[string]station{"it": i}})
		return Shutdown(ctx)
	}
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	if err := shutdown(expired); err == nil || !strings.Contains(err.Error(), `observer "it": a call is running`) {
		t.Errorf("got %v, want an error about the call that is running", err)
	}
	close(release)
	if err := shutdown(t.Context()); err != nil {
		t.Errorf("got %v, want no error after the call", err)
	}
}

// TestQueue_Event_AllocatesAtMostTwice updates a known object and calls the observer with the event.
func TestQueue_Event_AllocatesAtMostTwice(t *testing.T) {
	d, err := define("it", Metadata(corev1.SchemeGroupVersion.WithResource("secrets")), ignore, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.options.Scope = EveryReplica
	q := newQueue(d.observer(t.Context()))
	q.OnAdd(metadataAt("0"), false)
	const runs = 1000
	var states []any
	for version := range runs + 2 {
		states = append(states, metadataAt(strconv.Itoa(version+1)))
	}
	version := 0
	allocated := testing.AllocsPerRun(runs, func() {
		q.OnUpdate(nil, states[version])
		if err := q.Reconcile(t.Context(), "ns/it"); err != nil {
			t.Fatal(err)
		}
		version++
	})
	if allocated > 2 {
		t.Errorf("an event allocates %v times, want at most 2", allocated)
	}
}

func TestQueue_LeaderOnly_ReceivesTheObjectsOfItsBuckets(t *testing.T) {
	var received []string
	d, err := define("it", Metadata(corev1.SchemeGroupVersion.WithResource("secrets")), func(_ context.Context, e Event[*metav1.PartialObjectMetadata]) error {
		received = append(received, fmt.Sprintf("%v %s listed=%t", e.Type, e.Name.Name, e.InInitialList))
		return nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(d.observer(t.Context()))
	leader, ok := q.impl.Reconciler.(reconciler.LeaderAware)
	if !ok {
		t.Fatalf("%T is not leader-aware", q.impl.Reconciler)
	}
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	q.objects = store
	object := func(name, version string) *metav1.PartialObjectMetadata {
		o := metadataAt(version)
		o.Name, o.UID = name, types.UID(name)
		return o
	}
	notify := func(o *metav1.PartialObjectMetadata) {
		t.Helper()
		if err := store.Add(o); err != nil {
			t.Fatal(err)
		}
		q.OnAdd(o, true)
	}
	expect := func(want ...string) {
		t.Helper()
		for _, name := range []string{"a-1", "a-2", "b-1"} {
			if err := q.Reconcile(t.Context(), "ns/"+name); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, received); diff != "" {
			t.Errorf("received (-want +got):\n%s", diff)
		}
		received = nil
	}
	notify(object("a-1", "1"))
	notify(object("b-1", "2"))
	expect()
	if err := leader.Promote(bucket{name: "a", covers: "a-"}, nil); err != nil {
		t.Fatal(err)
	}
	expect("Added a-1 listed=true")
	q.OnAdd(object("a-2", "3"), false)
	q.OnAdd(object("b-1", "4"), false)
	expect("Added a-2 listed=false")
	// A notification that the cache was ahead of when the replica was promoted is no news.
	q.OnUpdate(nil, object("a-1", "1"))
	expect()
	leader.Demote(bucket{name: "a", covers: "a-"})
	q.OnUpdate(nil, object("a-1", "5"))
	expect()
	if n := q.undelivered(); n != 0 {
		t.Errorf("%d objects have events of which another replica takes care", n)
	}
}

func metadataAt(version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "it", UID: "uid", ResourceVersion: version}}
}
