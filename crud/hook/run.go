/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

var (
	errTimeout = errors.New("it ran for longer than its timeout")
	errEnding  = errors.New("it did not end within the grace period of the process")
)

// run runs the hook of a task once, and then its operations. If these have waited for a deletion, it continues with them.
func (t *term) run(ctx context.Context, q *queue, due *task) {
	if due.rest != nil {
		t.settle(q, due, t.attempt(ctx, due))
		return
	}
	if due.isStale != nil && due.isStale() {
		due.notBefore = time.Now().Add(syncPoll)
		return
	}
	if due.run = t.runOf(due, q.name); len(due.run.Contexts) == 0 {
		t.finish(q, due)
		return
	}
	if reservation := due.hook.limit.Reserve(); reservation.Delay() > 0 {
		due.notBefore = time.Now().Add(reservation.Delay())
		reservation.Cancel()
		return
	}
	if due.id == "" {
		due.id = t.taskOf(due.hook, due.run)
	}
	due.run.Task, due.run.Logger = due.id, due.run.Logger.With("task", due.id)
	began := time.Now()
	answer := t.attempt(ctx, due)
	t.measured.measure(due, q, answer.verdict, time.Since(began))
	t.settle(q, due, answer)
}

type verdict string

const (
	succeeded   verdict = "success"
	conflicted  verdict = "conflict"
	terminating verdict = "terminating"
	failed      verdict = "error"
	canceled    verdict = "canceled"
)

type answer struct {
	verdict verdict
	err     error
	// cause is the error of the operation that decided the verdict, and empty without one.
	cause *crud.Error
	// rest has the results of a plan that waits for a deletion, and lost is the resourceVersion that the operation of a conflict required.
	rest *operations.File
	lost string
}

func (t *term) attempt(ctx context.Context, due *task) (result answer) {
	h, run, file := due.hook, due.run, due.rest
	defer run.recovered(t.client, func(err error) { result = answer{verdict: failed, err: err} })
	if file == nil {
		calling, cancel := bounded(ctx, t.ctx, cmp.Or(h.bindings.Settings.Timeout.Duration, t.options.Timeout), t.options.Grace, errTimeout)
		defer cancel()
		written, err := h.call(calling, run)
		run.reveal(t.client, written)
		if err == nil {
			if err = h.bindings.Settings.check(written.Operations); err != nil {
				written.OnHookError = nil // of a rejected file, no operation is executed
			}
		}
		switch {
		case ctx.Err() != nil:
			return answer{verdict: canceled, err: context.Cause(ctx)}
		case errors.Is(err, errEnding):
			return answer{verdict: canceled, err: err}
		case err != nil:
			t.executeAfterError(ctx, run, h, written.OnHookError)
			t.measured.countRejection(h.name, err, "")
			return answer{verdict: failed, err: err}
		}
		file = &written
	}
	ctx, stop := bounded(ctx, t.ctx, t.options.Timeout, t.options.Grace, errTimeout)
	defer stop()
	return t.execute(ctx, due, *file)
}

// bounded returns a context that ends with a cause after a timeout, and with another one after a grace period when the process ends.
func bounded(ctx, process context.Context, timeout, grace time.Duration, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(timeout, func() { cancel(cause) })
	stop := context.AfterFunc(process, func() { time.AfterFunc(grace, func() { cancel(errEnding) }) })
	return ctx, func() {
		stop()
		timer.Stop()
		cancel(nil)
	}
}

// runOf returns a run of a task with its input, as the objects are now. It has no contexts if no change is left.
func (t *term) runOf(due *task, queue string) *Run {
	run := &Run{
		Hook: due.hook.name, Queue: queue, causes: map[string]string{},
		Logger: loggerOf(t.runner.ctx, due.hook, due.triggers[0].common.Name, queue),
	}
	run.values.Kinds = t.options.ConfidentialKinds
	states, groups := map[*monitor][]*state{}, map[string]bool{}
	statesOf := func(m *monitor) []*state {
		if _, ok := states[m]; !ok {
			states[m] = m.states()
			for _, s := range states[m] {
				run.values.Add(s.Unstructured)
			}
		}
		return states[m]
	}
	for _, of := range due.triggers {
		c := Context{Binding: of.common.Name, Type: of.kind}
		switch of.kind {
		case TypeSchedule, TypeGroup, TypeValidating, TypeMutating:
		case TypeSynchronization:
			all := statesOf(of.monitor)
			c.Objects = of.monitor.snapshots(all...)
			run.causes[of.common.Name] = ""
			for _, s := range all {
				run.causes[of.monitor.keyOf(cache.MetaObjectToName(s))] = versionOf(s)
			}
			run.received = append(run.received, func() { of.monitor.enable(all) })
		case TypeEvent:
			event, s := of.monitor.undelivered(of.object, due.hook.isOwn)
			if event == "" {
				continue
			}
			c.WatchEvent, c.Snapshot = event, of.monitor.snapshots(s)[0]
			if run.causes[of.monitor.keyOf(of.object)] = versionOf(s); event == Deleted {
				run.causes[of.monitor.keyOf(of.object)] = deletionOf(s.GetUID()) // the last state was delivered before
			}
			run.received = append(run.received, func() { of.monitor.deliver(of.object, event, s) })
			run.values.Add(s.Unstructured)
		case "":
			run.causes[of.common.Name] = ""
			run.received = append(run.received, func() { t.beginBindings(due.hook) })
		}
		if of.common.Group != "" {
			if groups[of.common.Group] {
				continue
			}
			groups[of.common.Group] = true
			c = Context{Binding: of.common.Group, Type: TypeGroup}
		}
		for _, m := range t.monitors[due.hook] {
			if slices.Contains(of.common.IncludeSnapshotsFrom, m.Name) || of.common.Group != "" && of.common.Group == m.Group {
				c.include(m, statesOf(m))
			}
		}
		run.Contexts = append(run.Contexts, c)
	}
	return run
}

// taskOf returns the task of a run. It follows from what the hook has received through the queue, so that a process which starts again continues the task
// of one that was killed: its Synchronization delivers the same objects in the same states. Each run because of a schedule alone is another one.
func (t *term) taskOf(h *Hook, run *Run) string {
	if len(run.causes) == 0 {
		return string(uuid.NewUUID())
	}
	for _, m := range t.monitors[h] {
		if m.Queue == run.Queue {
			m.addReceived(run.causes)
		}
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%s\n%q", t.options.FieldManager, h.name, run.causes) // in the order of the keys
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
