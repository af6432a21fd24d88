/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		"Options.RateLimiter: an observer":    {name: "it", handler: ignore, options: []options{{Inline: true, RateLimiter: everySecond{}}}},
		"Options.Workers: must be at least 1": {name: "it", handler: ignore, options: []options{{Workers: -1}}},
		"Options.Resync: must be at least 1s": {name: "it", handler: ignore, options: []options{{Resync: time.Millisecond}}},
		"Options.Types: must be of Added":     {name: "it", handler: ignore, options: []options{{Types: []Type{"7"}}}},
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
	i := &inline[*partial]{observer: observerOf(t.Context(), t, "it", func(context.Context, Event[*partial]) error {
		received++
		return nil
	}, Options[*partial]{Inline: true})}
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
		o := observerOf(t.Context(), t, "it", func(_ context.Context, e Event[*partial]) error {
			received = append(received, e)
			return nil
		}, Options[*partial]{Inline: true, Resync: resync})
		(&inline[*partial]{observer: o}).OnUpdate(metadataAt("1"), metadataAt("1"))
		if got := len(received) == 1 && received[0].Resync; got != (resync > 0) {
			t.Errorf("with a resync of %v received are %+v", resync, received)
		}
	}
}

// TestQueue_Event_AllocatesAtMostTwice counts all allocations from the notification to the end of the call, on the goroutines of the informer, of the
// queue and of the worker.
func TestQueue_Event_AllocatesAtMostTwice(t *testing.T) {
	const runs = 1000
	called := make(chan struct{})
	q := started(t.Context(), t, "it", func(context.Context, Event[*partial]) error {
		called <- struct{}{}
		return nil
	})
	var states []any
	for version := range runs + 2 {
		states = append(states, metadataAt(strconv.Itoa(version)))
	}
	q.OnAdd(states[0], false)
	<-called
	version := 0
	allocated := testing.AllocsPerRun(runs, func() {
		version++
		q.OnUpdate(nil, states[version])
		<-called
	})
	if allocated > 2 {
		t.Errorf("an event allocates %v times, want at most 2", allocated)
	}
}

func metadataAt(version string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "it", UID: "uid", ResourceVersion: version}}
}
