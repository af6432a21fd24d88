/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// remainder are operations that wait until objects are deleted.
type remainder struct {
	plan     crud.Plan
	next     time.Time
	deadline time.Time
	backoff  wait.Backoff
	// run and why are those of the task.
	run *Run
	why occasion
}

func newRemainder(plan crud.Plan, within time.Duration) *remainder {
	r := &remainder{
		plan: plan, deadline: time.Now().Add(within),
		backoff: wait.Backoff{Duration: 200 * time.Millisecond, Factor: 1.5, Steps: 100, Cap: 10 * time.Second},
	}
	r.postpone()
	return r
}

func (r *remainder) postpone() { r.next = time.Now().Add(r.backoff.Step()) }

// resume runs the rest of a plan. It is no failure that an object is not deleted yet, until the deadline.
func (t *term) resume(ctx context.Context, q *queue, due *task) {
	ctx, cancel := t.bounded(ctx, t.options.Timeout)
	defer cancel()
	rest, answer := due.resume, answer{verdict: failed}
	func() {
		defer rest.run.recovered(func(err error) { answer.err = err })
		answer = t.execute(ctx, q, rest.run, due.hook, operations.File{Plan: rest.plan})
	}()
	switch {
	case answer.verdict == canceled:
	case answer.verdict == terminating && time.Now().Before(rest.deadline):
		rest.plan = answer.rest
		rest.postpone()
	default:
		if answer.verdict == terminating {
			answer.verdict = failed
		}
		due.resume = nil
		t.settle(ctx, q, due, rest.run, rest.why, answer)
	}
}

// addDeletions remembers the deletions that finalizers delay. An object that is created again with the same name stays.
func (t *term) addDeletions(q *queue, run *Run, planned []crud.Operation, results []crud.Result) {
	for i, result := range results {
		if result.Outcome != crud.Deleting {
			continue
		}
		op := planned[i]
		if result.Object != nil {
			op.Preconditions.UID = new(result.Object.GetUID())
			op.Preconditions.ResourceVersion = nil
		}
		run.Logger.Infow("A deletion waits for finalizers", "operation", op.String(), "finalizers", result.Finalizers)
		t.recordDeletion(run, result, false)
		r := newRemainder(crud.Plan{Operations: []crud.Operation{op}, SkipPreflight: true}, t.options.Deletions)
		r.run = run
		t.mu.Lock()
		q.deletions = slices.DeleteFunc(q.deletions, func(other *remainder) bool { return other.plan.Operations[0].Ref == op.Ref })
		q.deletions = append(q.deletions, r)
		t.mu.Unlock()
	}
}

// repeatDeletion repeats a deletion until the object does not exist, or until the deadline.
func (t *term) repeatDeletion(ctx context.Context, q *queue, d *remainder) {
	ctx, cancel := t.bounded(ctx, t.options.Timeout)
	defer cancel()
	results, err := t.client.RunPlan(ctx, d.plan)
	isOver := err != nil && crud.ClassOf(err) != crud.Precondition && time.Now().After(d.deadline)
	switch {
	case ctx.Err() != nil:
	case isOver, err == nil && results[0].Outcome == crud.Deleting && time.Now().After(d.deadline):
		d.run.Logger.Warnw("A deletion is not awaited anymore", "operation", d.plan.Operations[0].String(), "finalizers", results[0].Finalizers)
		t.recordDeletion(d.run, results[0], true)
		t.forget(q, d)
	case err == nil && results[0].Outcome != crud.Deleting, crud.ClassOf(err) == crud.Precondition:
		d.run.Logger.Infow("A deletion is complete", "operation", d.plan.Operations[0].String())
		t.forget(q, d)
	case err == nil:
		t.recordDeletion(d.run, results[0], false)
	}
	d.postpone()
}

func (t *term) forget(q *queue, d *remainder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q.deletions = slices.DeleteFunc(q.deletions, func(other *remainder) bool { return other == d })
}
