/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devprocess

import (
	"context"
	"time"
)

// supervise follows an execution until its end.
func (p *Process) supervise(e *execution, probe *probe) {
	ctx, cancel := context.WithCancel(p.runner.ctx)
	defer cancel()
	go func() {
		<-e.group.Done()
		cancel()
	}()
	p.watchReadiness(ctx, e, probe)
	<-e.group.Done()

	p.mu.Lock()
	e.ready = false
	planned := e.planned
	p.mu.Unlock()
	p.tell()
	close(e.over)
	if !planned && p.runner.ctx.Err() == nil {
		p.runner.onExit(p.exitError(e))
	}
}

// watchReadiness probes until ctx is done and tells the cluster of each change.
func (p *Process) watchReadiness(ctx context.Context, e *execution, probe *probe) {
	failures := 0
	for {
		pause := startPeriod
		err := error(nil)
		if probe != nil {
			err = probe.check(ctx, e.backend.local[probe.port])
		}
		if ctx.Err() != nil {
			return
		}
		p.mu.Lock()
		before := e.ready
		e.lastProbe = err
		if failures++; err == nil {
			failures, e.ready = 0, !e.retired
		} else if probe != nil && failures >= probe.failures {
			e.ready = false
		}
		ready := e.ready
		p.mu.Unlock()
		if ready != before {
			p.tell()
		}
		if ready && !isClosed(e.firstReady) {
			close(e.firstReady)
		}
		switch {
		case probe == nil:
			<-ctx.Done()
			return
		case ready:
			pause = probe.period
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// tell reports to the cluster what nobody waits for.
func (p *Process) tell() {
	ctx, cancel := context.WithTimeout(p.runner.ctx, reportTimeout)
	defer cancel()
	if err := p.runner.report(ctx, p.deployment); err != nil && p.runner.ctx.Err() == nil {
		p.runner.onError(err)
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
