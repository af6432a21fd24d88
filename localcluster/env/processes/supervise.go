/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"time"
)

// supervise follows an execution until its end.
func (p *Process) supervise(e *execution) {
	ctx, cancel := context.WithCancel(p.runner.ctx)
	defer cancel()
	go func() {
		<-e.group.Done()
		cancel()
	}()
	p.watchReadiness(ctx, e)
	<-e.group.Done()

	p.mu.Lock()
	e.ready = false
	planned := e.planned
	p.mu.Unlock()
	p.publish()
	close(e.over)
	if !planned && p.runner.ctx.Err() == nil {
		p.runner.options.OnExit(p.exitError(e))
	}
}

// watchReadiness probes until ctx is done. A process without a probe is ready once it runs.
func (p *Process) watchReadiness(ctx context.Context, e *execution) {
	if e.probe == nil {
		p.setReady(e, true)
		return
	}
	for failures := int32(0); ; {
		err := e.probe.check(ctx, e.backend.local[e.probe.port])
		if ctx.Err() != nil {
			return
		}
		p.mu.Lock()
		e.lastProbe = err
		p.mu.Unlock()
		if failures++; err == nil {
			failures = 0
		}
		pause := startPeriod
		if err == nil || failures >= e.probe.FailureThreshold {
			p.setReady(e, err == nil)
		}
		if p.Ready() {
			pause = time.Duration(e.probe.PeriodSeconds) * time.Second
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// setReady updates the cluster's status if the readiness changes. An execution that is being stopped is not ready.
func (p *Process) setReady(e *execution, ready bool) {
	p.mu.Lock()
	before := e.ready
	e.ready = ready && !e.retired
	ready = e.ready
	p.mu.Unlock()
	if ready != before {
		p.publish()
	}
	if ready && !isClosed(e.firstReady) {
		close(e.firstReady)
	}
}

// publish updates the cluster's status in the background.
func (p *Process) publish() {
	ctx, cancel := context.WithTimeout(p.runner.ctx, reportTimeout)
	defer cancel()
	if err := p.runner.report(ctx, p.deployment); err != nil && p.runner.ctx.Err() == nil {
		p.runner.options.OnError(err)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
