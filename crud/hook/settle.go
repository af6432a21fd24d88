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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// conflictDelay is the first delay after a conflict, and mostConflictDelay the longest, also of the wait for a newer state of the object.
const (
	conflictDelay     = 20 * time.Millisecond
	mostConflictDelay = 5 * time.Second
)

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

// followUps are the delays between looks at an object that is being deleted.
var followUps = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 1.5, Steps: 100, Cap: 10 * time.Second}

// remainder is a plan whose other operations wait until an object is deleted, with the run of its task.
type remainder struct {
	file     operations.File
	deadline time.Time
	backoff  wait.Backoff
	run      *Run
	why      occasion
}

// postpone has the rest of a plan wait. Its operations themselves do not: the queue continues with others.
func (t *term) postpone(due *task, rest operations.File) {
	rest.Operations = slices.Clone(rest.Operations)
	for i := range rest.Operations {
		rest.Operations[i].Wait = 0
	}
	due.resume.file = rest
	due.notBefore = time.Now().Add(due.resume.backoff.Step())
}

// resume runs the rest of a plan. It is no failure that an object is not deleted yet, until the deadline.
func (t *term) resume(ctx context.Context, q *queue, due *task) {
	ctx, cancel := t.bounded(ctx, t.options.Timeout)
	defer cancel()
	rest, answer := due.resume, answer{verdict: failed}
	func() {
		defer rest.run.recovered(t.client, func(err error) { answer.err = err })
		answer = t.execute(ctx, rest.run, due.hook, rest.file)
	}()
	switch {
	case answer.verdict == canceled:
	case answer.verdict == terminating && time.Now().Before(rest.deadline):
		t.postpone(due, answer.rest)
	default:
		if answer.verdict == terminating {
			answer.verdict = failed
		}
		due.resume = nil
		t.settle(q, due, rest.run, rest.why, answer)
	}
}

// followUp reports the end of a deletion that finalizers delay. No run and no queue waits for it, and one object is read at a time. An object that
// is created again with the same name stays.
func (t *term) followUp(run *Run, op crud.Operation, result crud.Result) {
	if result.Outcome != crud.Deleting {
		return
	}
	uid := result.Object.GetUID()
	op.Preconditions.UID, op.Preconditions.ResourceVersion, op.Wait = &uid, nil, 0
	run.Logger.Infow("A deletion waits for finalizers", "operation", op.String(), "finalizers", result.Finalizers)
	t.recordDeletion(run, result, false)
	t.mu.Lock()
	_, isFollowed := t.deletions[uid]
	t.deletions[uid] = op
	t.mu.Unlock()
	if isFollowed {
		return
	}
	deadline := time.Now().Add(t.options.Deletions)
	go func() {
		_ = followUps.DelayFunc().Until(t.ctx, false, true, func(ctx context.Context) (isOver bool, err error) {
			return t.look(ctx, run, uid, deadline), nil
		})
	}()
}

// look repeats a deletion, and reports whether it is complete or not awaited anymore.
func (t *term) look(ctx context.Context, run *Run, uid types.UID, deadline time.Time) (isOver bool) {
	t.looking.Lock()
	defer t.looking.Unlock()
	t.mu.Lock()
	op := t.deletions[uid]
	t.mu.Unlock()
	result, err := t.client.Run(ctx, op)
	switch isLate := time.Now().After(deadline); {
	case ctx.Err() != nil:
		return true
	case err == nil && result.Outcome != crud.Deleting, crud.ClassOf(err) == crud.Precondition:
		run.Logger.Infow("A deletion is complete", "operation", op.String())
	case isLate:
		run.Logger.Warnw("A deletion is not awaited anymore", "operation", op.String(), "finalizers", result.Finalizers)
		t.recordDeletion(run, result, true)
	case err == nil:
		t.recordDeletion(run, result, false)
		return false
	default:
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.deletions, uid)
	return true
}
