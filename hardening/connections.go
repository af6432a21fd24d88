/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"knative.dev/pkg/webhook"
)

const (
	// gracePeriod is that of a webhook that has none. Upstream's default of 45 s is longer than the 30 s after which Kubernetes kills a Pod.
	gracePeriod = 5 * time.Second
	// beforeClosing is the time after SIGTERM in which API servers learn that this process is no endpoint of the Service anymore.
	beforeClosing = 2 * time.Second
	// holding is the time for which responses are held, so that each connection in use carries a request when the idle ones are closed.
	holding = 500 * time.Millisecond
)

// connections closes those of API servers after SIGTERM. Package webhook serves until no request has arrived for a while, but API servers send requests
// over the connections that they have: under load, Kubernetes would kill the process with the requests that it is answering.
//
// HTTP closes a connection without loss only if a response says so. The server does that with each response once it keeps no connections; as it also closes
// the idle ones at that moment, and a request may arrive at that moment, responses are held for a moment before.
type connections struct {
	server       atomic.Pointer[http.Server]
	held, closed chan struct{}
}

// withGracePeriod returns the context of a webhook, and closes its connections after signal has ended.
func (c *connections) withGracePeriod(ctx, signal context.Context) context.Context {
	options := webhook.GetOptions(ctx)
	if options == nil {
		return ctx
	}
	c.held, c.closed = make(chan struct{}), make(chan struct{})
	context.AfterFunc(signal, func() {
		time.Sleep(beforeClosing)
		close(c.held)
		time.Sleep(holding)
		if server := c.server.Load(); server != nil {
			server.SetKeepAlivesEnabled(false)
		}
		close(c.closed)
	})
	if options.GracePeriod != 0 {
		return ctx
	}
	changed := *options
	changed.GracePeriod = gracePeriod
	return webhook.WithOptions(ctx, changed)
}

// hold returns when the response to a request may be sent. The context of the request has the server.
func (c *connections) hold(ctx context.Context) {
	server, ok := ctx.Value(http.ServerContextKey).(*http.Server)
	if !ok || c.held == nil {
		return
	}
	c.server.CompareAndSwap(nil, server)
	select {
	case <-c.held:
		<-c.closed
	default:
	}
}
