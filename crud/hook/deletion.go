/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

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
		defer rest.run.recovered(func(err error) { answer.err = err })
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
