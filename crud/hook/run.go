/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/crud"
)

var (
	errTimeout = errors.New("it ran for longer than its timeout")
	errEnding  = errors.New("it did not end within the grace period of the process")
)

// conflictDelay is the first delay after a conflict, and mostConflictDelay the longest.
const (
	conflictDelay     = 20 * time.Millisecond
	mostConflictDelay = 5 * time.Second
)

// run runs the hook of a task once, and then its operations.
func (t *term) run(ctx context.Context, q *queue, due *task) {
	why := t.occasionOf(due)
	if len(why.contexts) == 0 {
		t.finish(q, due) // no change is left
		return
	}
	if limit := t.limits[due.hook]; limit != nil {
		if reservation := limit.Reserve(); reservation.Delay() > 0 {
			due.notBefore = time.Now().Add(reservation.Delay())
			reservation.Cancel()
			return
		}
	}
	t.mu.Lock()
	previous := t.previous[due.hook]
	t.mu.Unlock()
	binding := due.triggers[0].binding()
	run := &Run{
		Hook: due.hook.name, Queue: q.name, Task: due.id, Contexts: why.contexts, Previous: previous,
		Logger: t.logger(due.hook, binding, q.name).With("task", due.id), secrets: why.secrets,
	}
	m := measurementOf(due.hook.name, binding, q.name)
	began := time.Now()
	answer := t.attempt(ctx, q, run, due.hook)
	m.ran(answer.verdict, time.Since(began))
	t.settle(ctx, q, due, run, why, answer)
}

// verdict is how a run ended.
type verdict string

const (
	succeeded   verdict = "success"
	conflicted  verdict = "conflict"
	terminating verdict = "terminating"
	failed      verdict = "error"
	canceled    verdict = "canceled"
)

// answer is how a run ended.
type answer struct {
	verdict verdict
	err     error
	// rest are the operations that wait for a deletion, and lost is the object of the conflict.
	rest crud.Plan
	lost lost
}

// attempt runs the hook and its operations.
func (t *term) attempt(ctx context.Context, q *queue, run *Run, h *Hook) answer {
	calling, cancel := t.bounded(ctx, h.bindings.Settings.timeout(t.options.Timeout))
	file, err := h.call(calling, run)
	cancel()
	if ctx.Err() != nil {
		return answer{verdict: canceled, err: context.Cause(ctx)}
	}
	executing, cancel := t.bounded(ctx, t.options.Timeout)
	defer cancel()
	if err != nil {
		if errors.Is(err, errEnding) {
			return answer{verdict: canceled, err: err}
		}
		t.executeAfterError(executing, run, h, file.OnHookError)
		countRejection(h.name, err)
		return answer{verdict: failed, err: err}
	}
	return t.execute(executing, q, run, h, file)
}

// bounded returns a context that ends after a timeout, and after the grace period when the process ends.
func (t *term) bounded(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return bounded(ctx, timeout, errTimeout, t.ctx, t.options.Grace)
}

// bounded returns a context that ends with a cause after a timeout, and with another one after a grace period when the process ends.
func bounded(ctx context.Context, timeout time.Duration, cause error, process context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(timeout, func() { cancel(cause) })
	stop := context.AfterFunc(process, func() { time.AfterFunc(grace, func() { cancel(errEnding) }) })
	return ctx, func() {
		stop()
		timer.Stop()
		cancel(nil)
	}
}

// settle decides what follows a run.
func (t *term) settle(ctx context.Context, q *queue, due *task, run *Run, why occasion, answer answer) {
	m := measurementOf(due.hook.name, due.triggers[0].binding(), q.name)
	var reason string
	if answer.err != nil {
		reason = run.secrets.mask(answer.err.Error())
	}
	switch answer.verdict {
	case succeeded:
		t.done(q, due, why)
	case canceled:
		run.Logger.Infow("The process ended a run of a hook", "reason", reason)
	case terminating:
		run.Logger.Infow("The operations of a hook wait for the deletion of an object", "reason", reason)
		due.resume = newRemainder(answer.rest, t.options.Deletions)
		due.resume.run, due.resume.why = run, why
	case conflicted:
		m.conflicted()
		if due.conflicts++; due.conflicts < t.options.Conflicts {
			run.Logger.Infow("A hook runs again, because an object has changed since it decided", "conflicts", due.conflicts, "reason", reason)
			due.notBefore = time.Now().Add(min(conflictDelay<<min(due.conflicts-1, 20), mostConflictDelay))
			t.awaitFresh(ctx, due.hook, answer.lost)
			return
		}
		t.fail(q, due, run, why, m, reason)
	case failed:
		t.fail(q, due, run, why, m, reason)
	}
}

// done ends a task whose hook has received the contexts.
func (t *term) done(q *queue, due *task, why occasion) {
	for _, received := range why.received {
		received()
	}
	t.finish(q, due)
}

// fail counts a failure, and repeats the task later, first in its queue, unless its bindings allow failures.
func (t *term) fail(q *queue, due *task, run *Run, why occasion, m measurement, reason string) {
	m.failed()
	due.conflicts = 0
	if due.allowsFailure {
		run.Logger.Errorw("A hook failed, which its binding allows", "error", reason)
		t.done(q, due, why)
		return
	}
	delay := t.failures.When(due)
	due.notBefore = time.Now().Add(delay)
	run.Logger.Errorw("A hook failed", "error", reason, "repeatedIn", delay.String(), "failures", t.failures.NumRequeues(due))
}

// awaitFresh waits until the caches of a hook have another version of an object than the one that lost a conflict.
func (t *term) awaitFresh(ctx context.Context, h *Hook, lost lost) {
	if lost.resourceVersion == "" {
		return
	}
	_ = wait.PollUntilContextTimeout(ctx, syncPoll, t.options.Freshness, true, func(context.Context) (bool, error) {
		for _, m := range t.monitors[h] {
			if m.isAt(lost.name, lost.resourceVersion) {
				return t.ctx.Err() != nil, nil
			}
		}
		return true, nil
	})
}

// occasion is what a hook receives in a run.
type occasion struct {
	contexts []Context
	// received are called once the run has succeeded.
	received []func()
	secrets  secrets
}

// occasionOf returns the contexts for the hook of a task, as the objects are now.
func (t *term) occasionOf(due *task) (why occasion) {
	states, groups := map[*monitor][]*state{}, map[string]bool{}
	statesOf := func(m *monitor) []*state {
		if _, ok := states[m]; !ok {
			states[m] = m.states()
		}
		return states[m]
	}
	for _, of := range due.triggers {
		c := Context{Binding: of.binding(), Type: of.kind}
		switch of.kind {
		case TypeSchedule, TypeGroup:
		case TypeSynchronization:
			all := statesOf(of.monitor)
			c.Objects = of.monitor.snapshots(all)
			why.received = append(why.received, func() { of.monitor.enable(all) })
		case TypeEvent:
			event, s := of.monitor.undelivered(of.object, t.isOwn(due.hook))
			if event == "" {
				continue
			}
			c.WatchEvent, c.Snapshot = event, of.monitor.snapshot(s)
			why.received = append(why.received, func() { of.monitor.deliver(of.object, event, s) })
			why.secrets.add(s.Unstructured)
		case "":
			why.received = append(why.received, func() { t.beginBindings(due.hook) })
		}
		if of.common != nil && of.common.Group != "" {
			if groups[of.common.Group] {
				continue
			}
			groups[of.common.Group] = true
			c = Context{Binding: of.common.Group, Type: TypeGroup}
		}
		for _, m := range t.monitors[due.hook] {
			if of.includes(m) {
				if c.Snapshots == nil {
					c.Snapshots = map[string][]Snapshot{}
				}
				c.Snapshots[m.Name] = m.snapshots(statesOf(m))
			}
		}
		why.contexts = append(why.contexts, c)
	}
	for _, all := range states {
		for _, s := range all {
			why.secrets.add(s.Unstructured)
		}
	}
	return why
}

// includes reports whether the context of a trigger has the objects of a binding.
func (t trigger) includes(m *monitor) bool {
	return t.common != nil && (slices.Contains(t.common.IncludeSnapshotsFrom, m.Name) || t.common.Group != "" && t.common.Group == m.Group)
}

// lost is the version of an object that lost a conflict.
type lost struct {
	name            cache.ObjectName
	resourceVersion string
}
