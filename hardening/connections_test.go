/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"knative.dev/pkg/network"
	"knative.dev/pkg/network/handlers"
	"knative.dev/pkg/webhook"
)

// Clients that send requests all the time over connections that they keep, as API servers do.
func TestConnections_ClientsKeepThem_AreClosedAfterSIGTERMWithoutAFailedRequest(t *testing.T) {
	var c connections
	signal, terminate := context.WithCancel(t.Context())
	ctx := c.withGracePeriod(webhook.WithOptions(t.Context(), webhook.Options{}), signal)
	if got := webhook.GetOptions(ctx).GracePeriod; got != gracePeriod {
		t.Errorf("the grace period is %s, want %s", got, gracePeriod)
	}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		defer c.hold(r.Context())
		time.Sleep(time.Millisecond) //nolint:forbidigo // the work of a webhook
	}))
	defer server.Close()
	var requests sync.WaitGroup
	var sent, failed, kept, closing atomic.Int64
	stop, released := make(chan struct{}), make(chan struct{})
	for range 20 {
		requests.Go(func() {
			for {
				closed := false
				select {
				case <-stop:
					return
				case <-released:
					closed = true
				default:
				}
				sent.Add(1)
				// As a POST of the API server, it is not repeated by the client.
				response, err := server.Client().Post(server.URL, "application/json", http.NoBody) //nolint:noctx // ends with the test
				if err != nil {
					failed.Add(1)
					continue
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				switch {
				case response.Close:
					closing.Add(1)
				case closed:
					kept.Add(1)
				}
			}
		})
	}
	terminate()
	time.AfterFunc(beforeClosing+holding/2, func() {
		c.held.RLock()
		close(released)
		c.held.RUnlock()
	})
	eventually(t, "responses close their connections", func() bool { return closing.Load() >= 200 })
	close(stop)
	requests.Wait()
	t.Logf("%d requests, %d failed, %d responses closed their connection", sent.Load(), failed.Load(), closing.Load())
	if failed.Load() > 0 || kept.Load() > 0 {
		t.Errorf("%d requests failed, and after the end of the hold %d responses closed their connection and %d did not", failed.Load(), closing.Load(), kept.Load())
	}
}

func TestUpstream_Drain_RequestsArrive_DoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drainer := &handlers.Drainer{Inner: http.NotFoundHandler()} // as in package webhook, with the default of the quiet period
		ended := make(chan struct{})
		go func() {
			drainer.Drain()
			close(ended)
		}()
		for range 100 {
			time.Sleep(network.DefaultDrainTimeout - time.Second) //nolint:forbidigo // the bubble's clock
			drainer.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody))
		}
		select {
		case <-ended:
			t.Error("the drain has ended while requests arrive")
		default:
		}
		<-ended
	})
}

func TestConnections_NoWebhook_NothingChanges(t *testing.T) {
	var c connections
	if c.withGracePeriod(t.Context(), t.Context()) != t.Context() {
		t.Error("the context has changed")
	}
	c.hold(t.Context())
}
