/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/webhook"
)

const (
	// drainLimit is the time after SIGTERM after which reconciliations that are still running are no longer waited for. With the time that the release of
	// the leases and the last metrics need it is within the 30 s after which Kubernetes kills a Pod.
	drainLimit = 20 * time.Second
	// gracePeriod is that of a webhook that has none. Upstream's default of 45 s is longer than the 30 s after which Kubernetes kills a Pod.
	gracePeriod = 5 * time.Second
	// beforeClosing is the time after SIGTERM in which API servers learn that this process is no endpoint of the Service anymore.
	beforeClosing = 2 * time.Second
	// holding is the time for which responses are held, so that each connection in use carries a request when the idle ones are closed.
	holding = 500 * time.Millisecond
)

// work counts the reconciliations that are running. The zero value is ready for use.
type work struct {
	mu       sync.Mutex
	stopping bool
	running  sync.WaitGroup
}

// begin reports whether a reconciliation may begin. If so, running.Done must be called at its end.
func (w *work) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.stopping {
		w.running.Add(1)
	}
	return !w.stopping
}

// detach returns a context that ends when the reconciliations that run at SIGTERM have ended. Upstream's ends at once, which releases
// the leases while this process still writes.
func (w *work) detach(signal context.Context) context.Context {
	ctx, cancel := context.WithCancel(context.WithoutCancel(signal))
	context.AfterFunc(signal, func() {
		w.mu.Lock()
		w.stopping = true
		w.mu.Unlock()
		time.AfterFunc(drainLimit, cancel)
		w.running.Wait()
		cancel()
	})
	return ctx
}

// leaderAware cancels the reconciliations of a bucket whose lease is lost: upstream lets them write although another process leads.
type leaderAware struct {
	*hardened
	reconciler.LeaderAware
}

// Demote implements reconciler.LeaderAware. client-go calls it without Promote, too.
func (l leaderAware) Demote(bucket reconciler.Bucket) {
	l.LeaderAware.Demote(bucket)
	if l.process.off[stopping] {
		return
	}
	for object, cancel := range l.running.Range {
		key, _ := object.(types.NamespacedName)
		if cancel, ok := cancel.(context.CancelCauseFunc); ok && bucket.Has(key) {
			// Requests fail with the cause, which is no failure of the object.
			cancel(fmt.Errorf("lost leadership of %s: %w", bucket.Name(), context.Canceled))
		}
	}
}

// connections closes those of API servers after SIGTERM. Package webhook serves until no request has arrived for a while, but API servers send requests
// over the connections that they have: under load, Kubernetes would kill the process with the requests that it is answering.
//
// HTTP closes a connection without loss only if a response says so. The server does that with each response once it keeps no connections; as it also closes
// the idle ones at that moment, and a request can be under way, responses are held for a moment before.
type connections struct {
	server atomic.Pointer[http.Server]
	// held is locked while responses are.
	held sync.RWMutex
}

// withGracePeriod returns the context of a webhook, and closes its connections after signal has ended.
func (c *connections) withGracePeriod(ctx, signal context.Context) context.Context {
	options := webhook.GetOptions(ctx)
	if options == nil {
		return ctx
	}
	context.AfterFunc(signal, func() {
		time.Sleep(beforeClosing) //nolint:forbidigo // API servers do not say when they know
		c.held.Lock()
		defer c.held.Unlock()
		time.Sleep(holding) //nolint:forbidigo // clients do not say when they send
		if server := c.server.Load(); server != nil {
			server.SetKeepAlivesEnabled(false)
		}
	})
	changed := *options
	changed.GracePeriod = cmp.Or(options.GracePeriod, gracePeriod)
	return webhook.WithOptions(ctx, changed)
}

// hold returns when the response to a request may be sent. The context of the request has the server.
func (c *connections) hold(ctx context.Context) {
	if server, ok := ctx.Value(http.ServerContextKey).(*http.Server); ok {
		c.server.CompareAndSwap(nil, server)
		c.held.RLock()
		defer c.held.RUnlock()
	}
}
