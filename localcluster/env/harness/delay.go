/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"net/http"
	"time"
)

// DelayWatches has the events of the watches that match, those that run already too, arrive late, in order and complete,
// until undo is called: each by the delay at least. What comes while another event waits comes after it has waited itself, so
// by less than twice that, unless it is more at a time than the proxy copies in one piece, which is 32 KiB.
func (p *Proxy) DelayWatches(match Match, delay time.Duration) (undo func()) {
	isWatch := Match(func(r Request) bool { return r.Verb == "watch" })
	return p.add(&rule{match: isWatch.And(match), writer: func(ctx context.Context, w http.ResponseWriter) http.ResponseWriter {
		return &lateWriter{ResponseWriter: w, ctx: ctx, delay: delay}
	}})
}

// lateWriter writes after a while. Later events wait in the connection, and arrive together.
type lateWriter struct {
	http.ResponseWriter
	ctx   context.Context //nolint:containedctx // of the request that this writer lives for
	delay time.Duration
}

// Write implements http.ResponseWriter.
func (w *lateWriter) Write(data []byte) (int, error) {
	timer := time.NewTimer(w.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return w.ResponseWriter.Write(data)
	case <-w.ctx.Done():
		return 0, context.Cause(w.ctx)
	}
}
