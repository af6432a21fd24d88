//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ducks

import (
	"errors"
	"testing"

	"k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
)

// client-go repeats a request whose connection is cut ten times, once a second, before it returns an error.
//
// While the API server is down, all caches are old. (client-go takes a stream that is cut for one without objects yet.)
func TestLister_NoAnswer_IsAnErrorOnlyBeforeTheFirstSync(t *testing.T) {
	featuretesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	server := newAPIServer(t)
	server.put(newDuck("a", addressed("http://first")))
	factory, events := newFactory(t, server)
	server.reject(errNoAnswer)
	eventually(t, "why there is no lister is returned", func() bool {
		lister, err := factory.Lister(ducks)
		return lister == nil && err != nil && !errors.Is(err, ErrNotSynced)
	})
	server.reject(nil)
	mustList(t, factory)
	eventually(t, "the resource is watched", func() bool { return server.open() == 1 })
	eventually(t, "that it is readable is reported", func() bool { return events.changed() == 2 })
	changes, before := events.changed(), server.requests()
	server.reject(errNoAnswer)
	server.put(newDuck("a", addressed("http://second")))
	eventually(t, "the request is retried", func() bool { return server.requests() > before+1 })
	if got := urlOf(t, mustList(t, factory), "a"); got != "http://first" {
		t.Errorf("the lister has %s", got)
	}
	server.reject(nil)
	eventually(t, "the change arrives", func() bool { return urlOf(t, mustList(t, factory), "a") == "http://second" })
	if got := events.changed(); got != changes {
		t.Errorf("%d changes were reported, want none", got-changes)
	}
}
