/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

// drainLimit is the time after SIGTERM after which reconciliations that are still running are no longer waited for. With the time that the release of
// the leases and the last metrics need it is within the 30 s after which Kubernetes kills a Pod.
const drainLimit = 20 * time.Second

// work counts the reconciliations that are running. The zero value is ready for use.
type work struct {
	mu       sync.Mutex
	count    int
	stopping bool
	idle     chan struct{}
	cancel   context.CancelCauseFunc
}

// begin reports whether a reconciliation may begin. If so, end must be called.
func (w *work) begin() (begun bool, end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopping {
		return false, nil
	}
	w.count++
	return true, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.count--
		w.signal()
	}
}

// signal closes idle once nothing runs or begins anymore. w.mu is held.
func (w *work) signal() {
	if w.stopping && w.count == 0 {
		close(w.idle)
	}
}

// detach returns a context that ends when the reconciliations that run at SIGTERM have ended. Upstream's ends at once, which releases
// the leases while this process still writes.
func (w *work) detach(signal context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(signal))
	w.idle, w.cancel = make(chan struct{}), cancel
	context.AfterFunc(signal, func() {
		w.mu.Lock()
		w.stopping = true
		w.signal()
		w.mu.Unlock()
		select {
		case <-w.idle:
		case <-time.After(drainLimit):
		}
		cancel(context.Cause(signal))
	})
	return ctx
}

// fail ends the process because a part of it has failed.
func (p *process) fail(err error) {
	p.logger().Errorw("A part of the process has failed", zap.Error(err))
	p.failed.Store(true)
	if p.work.cancel != nil {
		p.work.cancel(err)
	}
}
