/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ducks

import (
	"testing"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// upstream is the factory that this package stands in for. It is stopped when the
// test ends.
func upstream(t *testing.T, server *apiServer) *duck.TypedInformerFactory {
	t.Helper()
	stop := make(chan struct{})
	t.Cleanup(func() {
		close(stop)
		eventually(t, "the informers end", func() bool { return reflectors() == 0 })
	})
	return &duck.TypedInformerFactory{Client: server, Type: &duckv1.AddressableType{}, StopChannel: stop}
}

func TestUpstream_MalformedObject_Hangs(t *testing.T) {
	server := newAPIServer(t)
	server.put(newDuck("bad", "well"))
	server.put(newDuck("good", addressed("http://good")))
	factory, returned := upstream(t, server), make(chan struct{})
	go func() {
		defer close(returned)
		_, _, _ = factory.Get(t.Context(), ducks)
	}()

	// The first list is Get's own. Once the informer asks again, it has failed.
	eventually(t, "the informer retries", func() bool {
		select {
		case <-returned:
			return true
		default:
			return server.requests() > 3
		}
	})
	select {
	case <-returned:
		t.Error("knative.dev/pkg's TypedInformerFactory gets along with a malformed object now; is this package still needed?")
	default:
	}
}

func TestUpstream_DeletedResource_IsListedIndefinitely(t *testing.T) {
	server := newAPIServer(t)
	factory := &duck.CachedInformerFactory{Delegate: upstream(t, server)}
	if _, _, err := factory.Get(t.Context(), ducks); err != nil {
		t.Fatal(err)
	}
	server.reject(notFound())
	before := server.requests()
	eventually(t, "the informer continues to list; if it has stopped, is this package still needed?", func() bool {
		return server.requests() > before+2
	})
}
