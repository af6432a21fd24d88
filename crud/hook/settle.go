/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
)

// conflictDelay is the first delay after a conflict, and mostConflictDelay the longest.
const (
	conflictDelay     = 20 * time.Millisecond
	mostConflictDelay = 5 * time.Second
)

// settle decides what follows a run.
func (t *term) settle(ctx context.Context, q *queue, due *task, run *Run, why occasion, answer answer) {
	m := due.measurement(q)
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
		due.resume = newRemainder(answer.rest, t.options.Deletions)
		due.resume.run, due.resume.why = run, why
	case conflicted:
		m.conflicted()
		if due.conflicts++; due.conflicts < t.options.Conflicts {
			run.Logger.Infow("A hook runs again, because an object has changed since it decided", "conflicts", due.conflicts, "reason", reason)
			due.notBefore = time.Now().Add(min(conflictDelay<<min(due.conflicts-1, 20), mostConflictDelay))
			t.awaitFresh(ctx, due.hook, answer)
			return
		}
		t.recordConflicts(due, run, answer)
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

// fail counts a failure, and repeats the task later, first in its queue, unless its bindings allow failures.
func (t *term) fail(q *queue, due *task, run *Run, why occasion, answer answer, reason string) {
	due.measurement(q).failed()
	due.conflicts = 0
	if due.allowsFailure {
		t.recordIncomplete(due, run, answer, reason)
		run.Logger.Errorw("A hook failed, which its binding allows", "error", reason)
		t.done(q, due, why)
		return
	}
	delay := t.failures.When(due)
	due.notBefore = time.Now().Add(delay)
	run.Logger.Errorw("A hook failed", "error", reason, "repeatedIn", delay.String(), "failures", t.failures.NumRequeues(due))
}

// awaitFresh waits until the caches of a hook have another version of the object than the one that an operation required.
func (t *term) awaitFresh(ctx context.Context, h *Hook, answer answer) {
	if answer.lost == "" {
		return
	}
	name := cache.NewObjectName(answer.cause.Ref.Namespace, answer.cause.Ref.Name)
	_ = wait.PollUntilContextTimeout(ctx, syncPoll, t.options.Freshness, true, func(context.Context) (bool, error) {
		for _, m := range t.monitors[h] {
			if m.isAt(name, answer.lost) {
				return t.ctx.Err() != nil, nil
			}
		}
		return true, nil
	})
}
