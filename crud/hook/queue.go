/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/crud/operations"
)

type trigger struct {
	hook   *Hook
	kind   ContextType
	common *Common
	// monitor is that of a Synchronization or an Event, and object that of an Event.
	monitor *monitor
	object  cache.ObjectName
}

var startup = &Common{Name: "onStartup", Queue: mainQueue}

// task is a run of a hook that is to take place, once or until it succeeds.
type task struct {
	// id is empty until the first run.
	id            string
	hook          *Hook
	triggers      []trigger
	allowsFailure bool
	started       bool
	// conflicts are those since the last failure.
	conflicts int
	notBefore time.Time
	// isStale reports, after a conflict, whether the hook would decide from the same state again.
	isStale func() bool
	// run is the last one.
	run *Run
	// rest is the plan of the run if it waits for an object that is being deleted, until a deadline.
	rest     *operations.File
	deadline time.Time
	backoff  wait.Backoff
}

// queue has the tasks of one worker. The lock of the term guards it.
type queue struct {
	name  string
	tasks []*task
	// repeats reports whether the last one had begun before.
	repeats bool
}

// enqueue adds triggers, unless they wait already. Adjacent triggers of a hook are one task.
func (t *term) enqueue(all ...trigger) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, why := range all {
		if t.pending.Has(why) || t.isOver() {
			continue
		}
		t.pending.Insert(why)
		q := t.queues[why.common.Queue]
		if last := len(q.tasks) - 1; last >= 0 && !q.tasks[last].started && q.tasks[last].takes(why.hook, why.common.AllowFailure) {
			q.tasks[last].triggers = append(q.tasks[last].triggers, why)
		} else {
			q.tasks = append(q.tasks, &task{hook: why.hook, triggers: []trigger{why}, allowsFailure: why.common.AllowFailure})
		}
		t.impl.EnqueueKey(keyOf(q.name))
	}
}

// takes reports whether triggers of a hook can be part of the task.
func (t *task) takes(hook *Hook, allowsFailure bool) bool {
	return t.hook == hook && t.allowsFailure == allowsFailure && t.rest == nil
}

// next returns the task that the worker of the queue executes now, or the time until one is due if no event decides that. A task delays those of the same
// hook alone, and takes those after it. First runs take turns with repetitions and the rests of plans.
func (t *term) next(q *queue) (due *task, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, held := time.Now(), sets.New[*Hook]()
	for _, candidate := range q.tasks {
		if held.Has(candidate.hook) {
			continue
		}
		held.Insert(candidate.hook)
		switch delay := candidate.notBefore.Sub(now); {
		case delay > 0:
			if wait == 0 || delay < wait {
				wait = delay
			}
		// Its events may be of the operations that run in another queue, which enqueues this one.
		case candidate.rest == nil && t.writing[candidate.hook] > 0:
		case due == nil || due.started == q.repeats && candidate.started != q.repeats:
			due = candidate
		}
	}
	if due == nil {
		return nil, wait
	}
	q.repeats, due.started = due.started, true
	for i := slices.Index(q.tasks, due) + 1; i < len(q.tasks) && due.takes(q.tasks[i].hook, q.tasks[i].allowsFailure); {
		for _, why := range q.tasks[i].triggers {
			if !slices.Contains(due.triggers, why) {
				due.triggers = append(due.triggers, why)
			}
		}
		q.tasks = slices.Delete(q.tasks, i, i+1)
	}
	t.pending.Delete(due.triggers...)
	return due, 0
}

// finish notes that the hook has received the input of a task, and removes it from the queue.
func (t *term) finish(q *queue, done *task) {
	for _, received := range done.run.received {
		received()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures.Forget(done)
	q.tasks = slices.DeleteFunc(q.tasks, func(other *task) bool { return other == done })
}

// write notes that operations of a hook run. Until the function that it returns is called, its events wait.
func (t *term) write(hook *Hook) (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writing[hook]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.writing[hook]--
		for _, q := range t.queues {
			if slices.ContainsFunc(q.tasks, func(other *task) bool { return other.hook == hook }) {
				t.impl.EnqueueKey(keyOf(q.name))
			}
		}
	}
}
