/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"sync"
	"time"
)

// gate counts the keys of a share that are being reconciled. It shuts by itself at the end of the term. A standby's gate is open: its
// reconcilers skip keys themselves.
type gate struct {
	mu   sync.Mutex
	shut bool
	// end is the time at which the term ends; zero while the process does not lead the share.
	end time.Time
	// cancels are those of the contexts of the reconciliations under way.
	cancels map[context.Context]context.CancelCauseFunc
	// empty is closed when the last key is done; it exists only after close.
	empty chan struct{}
}

// enter returns the context of a reconciliation and the function that ends it, or false if none may begin.
func (g *gate) enter(ctx context.Context) (_ context.Context, leave func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	// The timer of the term may be late, for example after the machine stalled.
	if g.shut || !g.end.IsZero() && !time.Now().Before(g.end) {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if g.cancels == nil {
		g.cancels = map[context.Context]context.CancelCauseFunc{}
	}
	g.cancels[ctx] = cancel
	leave = func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		cancel(nil)
		delete(g.cancels, ctx)
		if len(g.cancels) == 0 && g.empty != nil {
			close(g.empty)
			g.empty = nil
		}
	}
	return ctx, leave, true
}

// open begins a term that ends at a time, or with a zero time, the time as a standby.
func (g *gate) open(end time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.end = false, end
}

// extend moves the end of the term. A term that is over stays over: another process may lead by now.
func (g *gate) extend(end time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Now().Before(g.end) {
		g.end = end
	}
}

// isLeading reports whether a term has begun and was not closed.
func (g *gate) isLeading() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.shut && !g.end.IsZero()
}

// until returns when the term ends, or zero if the process is a standby.
func (g *gate) until() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.end
}

// close lets nothing begin any more. The channel is closed once nothing is being reconciled.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	idle := g.empty
	if len(g.cancels) == 0 {
		close(g.empty)
		g.empty = nil
	}
	return idle
}

// cancel ends the contexts of what is being reconciled.
func (g *gate) cancel(cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, cancel := range g.cancels {
		cancel(cause)
	}
}
