/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// Held is a request that a proxy keeps from the API server.
type Held struct {
	caught  chan Request
	proceed chan struct{}
	release func()
}

// Hold keeps the next request that matches from being passed on until it is released; those after it are not held. If
// the process dies or gives up first, the request is never passed on.
func (p *Proxy) Hold(match Match) *Held {
	h := &Held{caught: make(chan Request, 1), proceed: make(chan struct{})}
	first := make(chan struct{}, 1)
	first <- struct{}{}
	remove := p.add(&rule{match: match, before: func(_ http.ResponseWriter, httpRequest *http.Request, r Request) bool {
		select {
		case <-first:
		default:
			return true
		}
		h.caught <- r
		select {
		case <-h.proceed:
			return true
		case <-httpRequest.Context().Done():
			return false
		}
	}})
	h.release = sync.OnceFunc(func() {
		remove()
		close(h.proceed)
	})
	return h
}

// Caught returns a channel with the request once it is held.
func (h *Held) Caught() <-chan Request { return h.caught }

// Wait returns the request once it is held. The test fails when that takes longer than the deadline of its waits.
func (h *Held) Wait(t testing.TB) Request {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
	defer cancel()
	select {
	case r := <-h.caught:
		return r
	case <-ctx.Done():
		t.Fatalf("waiting for a request to hold: none matched within %v", Deadline)
		return Request{}
	}
}

// Release passes the request on, if its process still waits for it, and holds no other.
func (h *Held) Release() { h.release() }

// recordingWriter notes the status code of a response and applies the rules to each write as they are at that moment, so
// that they take hold of watches that run already.
type recordingWriter struct {
	http.ResponseWriter
	proxy   *Proxy
	request Request
	ctx     context.Context //nolint:containedctx // of the request that this writer lives for
	code    int
}

// Unwrap lets the reverse proxy flush.
func (w *recordingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *recordingWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *recordingWriter) Write(data []byte) (int, error) {
	out := w.ResponseWriter
	for _, rule := range w.proxy.matching(w.request) {
		if rule.writer != nil {
			out = rule.writer(w.ctx, out)
		}
	}
	return out.Write(data)
}

// gatedWriter writes once its gate is open.
type gatedWriter struct {
	http.ResponseWriter
	ctx  context.Context //nolint:containedctx // of the request that this writer lives for
	gate <-chan struct{}
}

// Write implements http.ResponseWriter.
func (w *gatedWriter) Write(data []byte) (int, error) {
	select {
	case <-w.gate:
		return w.ResponseWriter.Write(data)
	case <-w.ctx.Done():
		return 0, context.Cause(w.ctx)
	}
}

// trackingListener knows the connections that it has accepted.
type trackingListener struct {
	net.Listener
	mu      sync.Mutex
	open    map[*trackedConn]struct{}
	isolate bool
	// rejected counts the connections that were closed because of isolate.
	rejected int
}

// Accept implements net.Listener. While the listener is cut, new connections are closed.
func (l *trackingListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if tracked := l.track(conn); tracked != nil {
			return tracked, nil
		}
	}
}

func (l *trackingListener) track(conn net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isolate {
		l.rejected++
		_ = conn.Close()
		return nil
	}
	tracked := &trackedConn{Conn: conn, listener: l}
	l.open[tracked] = struct{}{}
	return tracked
}

func (l *trackingListener) cut() {
	l.mu.Lock()
	l.isolate = true
	l.mu.Unlock()
	for _, conn := range l.connections() {
		_ = conn.Close()
	}
}

// reset closes the open connections with an RST instead of a FIN.
func (l *trackingListener) reset() {
	open := l.connections()
	for _, conn := range open {
		// No request arrives over one of them once another is closed.
		conn.drops.Store(true)
	}
	for _, conn := range open {
		if tcp, ok := conn.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// connections returns those that are open.
func (l *trackingListener) connections() []*trackedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.open))
}

func (l *trackingListener) restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isolate = false
}

// drop has the open connections lose all that is sent in either direction from now on.
func (l *trackingListener) drop() {
	for _, conn := range l.connections() {
		conn.drops.Store(true)
	}
}

type trackedConn struct {
	net.Conn
	listener *trackingListener
	// drops reports whether all that is sent in either direction is lost, without an error on either side.
	drops atomic.Bool
}

// Read implements net.Conn.
func (c *trackedConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.drops.Load() {
			return n, err
		}
	}
}

// Write implements net.Conn.
func (c *trackedConn) Write(p []byte) (int, error) {
	if c.drops.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *trackedConn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
