/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package probe

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// eagerPeriod is the pause between probes until the first success. The period of a manifest is made for a cluster, where no user sits waiting. What
// these additional probes find wrong is not counted.
const eagerPeriod = 250 * time.Millisecond

// Loop probes again and again.
type Loop struct {
	Target Target
	Probe  *corev1.Probe
	// Failed is called for each failed probe with its output.
	Failed func(output string)
	// Result is called when the counted result changes, and for the first.
	Result func(ok bool)
}

// Run probes until the context ends.
func (l *Loop) Run(ctx context.Context) {
	if !pause(ctx, time.Duration(l.Probe.InitialDelaySeconds)*time.Second) {
		return
	}
	period := time.Duration(max(l.Probe.PeriodSeconds, 1)) * time.Second
	count := Counter{Success: int(max(l.Probe.SuccessThreshold, 1)), Failure: int(max(l.Probe.FailureThreshold, 1))}
	counted := time.Time{}
	succeeded := false
	for {
		ok, output := l.Target.Once(ctx, l.Probe)
		if ctx.Err() != nil {
			return
		}
		// The first one may come before the program has had time to open its port.
		if due := time.Since(counted) >= period && !counted.IsZero(); ok || due || succeeded {
			if !ok {
				l.Failed(output)
			}
			if result, changed := count.Add(ok); changed {
				l.Result(result)
			}
			counted = time.Now()
		} else if counted.IsZero() {
			counted = time.Now()
		}
		wait := period
		if succeeded = succeeded || ok; !succeeded {
			wait = min(period, eagerPeriod)
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// Counter counts probes with the same result.
type Counter struct {
	// Success and Failure are the numbers of results in a row that change the state.
	Success, Failure int

	last, result, known bool
	row                 int
}

// Add counts one probe, and returns the result and whether it has changed.
func (c *Counter) Add(ok bool) (result, changed bool) {
	if ok != c.last {
		c.row = 0
	}
	c.last = ok
	c.row++
	need := c.Failure
	if ok {
		need = c.Success
	}
	if c.row < need || c.known && c.result == ok {
		return c.result, false
	}
	c.known, c.result = true, ok
	return ok, true
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
