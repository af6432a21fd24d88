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
		gate := make(chan struct{})
		time.AfterFunc(delay, func() { close(gate) })
		return &gatedWriter{ResponseWriter: w, ctx: ctx, gate: gate}
	}})
}
