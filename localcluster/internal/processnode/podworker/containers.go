/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/podstatus"
)

const (
	// lostCode is the exit code of a container with an unknown exit.
	lostCode = 255
	// startCode is that of one that could not be started.
	startCode = 128
)

// container runs a container, repeatedly if its restart policy requires it, and returns the last exit code. It returns, with the process
// ended, when the context ends.
func (w *Worker) container(ctx context.Context, name string, isInit bool) int32 {
	code := w.lastCode(name)
	for first := true; ; first = false {
		if !first && !w.awaitRestart(ctx, name) {
			return code
		}
		started, ok := w.begin(ctx, name)
		if !ok {
			return startCode
		}
		if started == nil {
			// It failed to start, which counts as an execution.
			code = startCode
		} else {
			code = w.attend(ctx, name, started)
		}
		if ctx.Err() != nil {
			return code
		}
		if started != nil && started.isOutdated() {
			// It did not fail, and whatever the restart policy is, the Pod has not had what it wants.
			w.backOff.Reset(name)
			continue
		}
		if !podstatus.Restarts(w.Pod(), w.spec(name), isInit, code) {
			return code
		}
	}
}

// awaitRestart waits as long as a container that ended has to wait before it is started again.
func (w *Worker) awaitRestart(ctx context.Context, name string) bool {
	w.mu.Lock()
	finished := time.Now()
	if ended := w.states[name].status.State.Terminated; ended != nil {
		finished = ended.FinishedAt.Time
	}
	w.mu.Unlock()
	if !w.backOff.IsInBackOffSinceUpdate(name, finished) {
		w.backOff.Next(name, finished)
		return ctx.Err() == nil
	}
	left := w.backOff.Get(name)
	pod := w.Pod()
	full := fmt.Sprintf("%s_%s(%s)", pod.Name, pod.Namespace, pod.UID)
	w.containerEvent(name, corev1.EventTypeWarning, reasonBackOff, "Back-off restarting failed container "+name+" in pod "+full)
	w.waiting(name, reasonCrashLoop, fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", left, name, full))
	if !sleep(ctx, time.Until(finished.Add(left))) {
		return false
	}
	w.backOff.Next(name, time.Now())
	return true
}

// begin starts a container, and retries after transient failures. It returns nil for one that could not be
// started, and false when the context ended.
func (w *Worker) begin(ctx context.Context, name string) (*execution, bool) {
	for delay := firstRetry; ; delay = min(2*delay, lastRetry) {
		started, err := w.try(ctx, name)
		if err == nil {
			return started, true
		}
		if ctx.Err() != nil {
			return nil, false
		}
		var why *problem
		if !errors.As(err, &why) {
			why = &problem{reason: reasonCreateError, message: err.Error(), event: true}
		}
		if why.reason == reasonRunError {
			w.notStarted(name, why.message)
			return nil, true
		}
		w.waiting(name, why.reason, why.message)
		if why.event {
			w.containerEvent(name, corev1.EventTypeWarning, reasonFailed, "Error: "+why.text())
		}
		if why.waited {
			delay = firstRetry
			continue
		}
		if !sleep(ctx, delay) {
			return nil, false
		}
	}
}

// attend watches over a container that was started until it has ended, and ends it on request.
func (w *Worker) attend(ctx context.Context, name string, e *execution) int32 {
	probes, endProbes := context.WithCancel(ctx)
	unhealthy := w.startProbes(probes, name, e)
	select {
	case <-e.process.Done():
	case <-ctx.Done():
		w.containerEvent(name, corev1.EventTypeNormal, reasonKilling, "Stopping container "+name)
		w.end(e, w.kill.Done())
	case why := <-unhealthy:
		endProbes()
		w.replace(name, e, why)
	case <-e.outdated:
		endProbes()
		w.replace(name, e, verdict{text: "definition changed", grace: w.grace()})
	}
	endProbes()
	return w.ended(name, e)
}

// replace ends a container that should be restarted.
func (w *Worker) replace(name string, e *execution, why verdict) {
	w.containerEvent(name, corev1.EventTypeNormal, reasonKilling, fmt.Sprintf("Container %s %s, will be restarted", name, why.text))
	limit, cancel := context.WithTimeout(w.kill, why.grace)
	defer cancel()
	w.end(e, limit.Done())
}

// end asks a process to end, and ends it when it has had its time.
func (w *Worker) end(e *execution, now <-chan struct{}) {
	e.process.Signal(e.stopSignal)
	select {
	case <-e.process.Done():
	case <-now:
		e.process.Kill()
		<-e.process.Done()
	}
}
