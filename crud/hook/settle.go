/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// conflictDelay is the first delay after a conflict, and mostConflictDelay the longest, also of the wait for a newer state of the object.
const (
	conflictDelay     = 20 * time.Millisecond
	mostConflictDelay = 5 * time.Second
)

// settle decides what follows a run.
func (t *term) settle(q *queue, due *task, run *Run, why occasion, answer answer) {
	var reason string
	if answer.err != nil {
		reason = run.values.Mask(answer.err.Error())
	}
	switch answer.verdict {
	case succeeded:
		t.done(q, due, why)
	case canceled:
		run.Logger.Infow("The process ended a run of a hook", "reason", reason)
	case terminating:
		run.Logger.Infow("The operations of a hook wait for the deletion of an object", "reason", reason)
		due.resume = &remainder{deadline: time.Now().Add(t.options.Deletions), backoff: followUps, run: run, why: why}
		t.postpone(due, answer.rest)
	case conflicted:
		t.measured.conflicts.Add(context.Background(), 1, due.attributes(q))
		if due.conflicts++; t.options.Conflicts < 0 || due.conflicts < t.options.Conflicts {
			run.Logger.Infow("A hook runs again, because an object has changed since it decided", "conflicts", due.conflicts, "reason", reason)
			due.notBefore = time.Now().Add(min(conflictDelay<<min(due.conflicts-1, 20), mostConflictDelay))
			due.isStale = t.staleness(due.hook, answer)
			return
		}
		t.recordErrorf(run, due.hook, answer.cause, corev1.EventTypeWarning, ReasonConflicts,
			"Hook %s failed: the object changed during each of %d runs, before the operation %s", run.Hook, t.options.Conflicts, answer.cause.Operation)
		t.fail(q, due, run, why, answer, reason)
	case failed:
		t.fail(q, due, run, why, answer, reason)
	}
}

// done ends a task whose hook has received the contexts.
func (t *term) done(q *queue, due *task, why occasion) {
	for _, received := range why.received {
		received()
	}
	t.finish(q, due)
}

// fail counts a failure, and repeats the task later, unless its bindings allow failures.
func (t *term) fail(q *queue, due *task, run *Run, why occasion, answer answer, reason string) {
	t.measured.errors.Add(context.Background(), 1, due.attributes(q))
	due.conflicts = 0
	if due.allowsFailure {
		if answer.executed > 0 {
			t.recordErrorf(run, due.hook, answer.cause, corev1.EventTypeWarning, ReasonIncomplete,
				"Hook %s, which is allowed to fail, executed %d of %d operations: %s", run.Hook, answer.executed, answer.planned, reason)
		}
		run.Logger.Errorw("A hook failed, which its binding allows", "error", reason)
		t.done(q, due, why)
		return
	}
	delay := t.failures.When(due)
	due.notBefore = time.Now().Add(delay)
	run.Logger.Errorw("A hook failed", "error", reason, "repeatedIn", delay.String(), "failures", t.failures.NumRequeues(due))
}

// staleness returns a function that reports whether the caches of a hook still have the version of the object that an operation required.
func (t *term) staleness(h *Hook, answer answer) func() bool {
	until := time.Now().Add(mostConflictDelay)
	return func() bool {
		return answer.lost != "" && time.Now().Before(until) && slices.ContainsFunc(t.monitors[h], func(m *monitor) bool {
			return m.isAt(cache.NewObjectName(answer.cause.Ref.Namespace, answer.cause.Ref.Name), answer.lost)
		})
	}
}
