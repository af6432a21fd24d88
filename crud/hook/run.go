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
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/mallard-dev/mallard/confidential"
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
	if due.why = t.occasionOf(due); len(due.why.contexts) == 0 {
		t.finish(q, due) // no change is left
		return
	}
	if reservation := due.hook.limit.Reserve(); reservation.Delay() > 0 {
		due.notBefore = time.Now().Add(reservation.Delay())
		reservation.Cancel()
		return
	}
	if due.id == "" {
		due.id = t.taskOf(due.hook, due.why)
	}
	due.run = &Run{
		Hook: due.hook.name, Queue: q.name, Task: due.id, Contexts: due.why.contexts, values: due.why.values,
		Logger: loggerOf(t.runner.ctx, due.hook, due.triggers[0].common.Name, q.name).With("task", due.id),
	}
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
		calling, cancel := t.bounded(ctx, cmp.Or(h.bindings.Settings.Timeout.Duration, t.options.Timeout))
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
	ctx, stop := t.bounded(ctx, t.options.Timeout)
	defer stop()
	return t.execute(ctx, due, *file)
}

// bounded returns a context that ends after a timeout, and after the grace period when the process ends.
func (t *term) bounded(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return bounded(ctx, t.ctx, timeout, t.options.Grace, errTimeout)
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

// occasion holds the input of a hook in a run.
type occasion struct {
	contexts []Context
	// causes identify what caused the run. The list is empty if only a schedule did.
	causes   []string
	received []func()
	values   confidential.Values
}

// occasionOf returns the contexts for the hook of a task, as the objects are now.
func (t *term) occasionOf(due *task) (why occasion) {
	why.values.Kinds = t.options.ConfidentialKinds
	states, groups := map[*monitor][]*state{}, map[string]bool{}
	statesOf := func(m *monitor) []*state {
		if _, ok := states[m]; !ok {
			states[m] = m.states()
			for _, s := range states[m] {
				why.values.Add(s.Unstructured)
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
			why.causes = append(why.causes, of.causes("", all...)...)
			why.received = append(why.received, func() { of.monitor.enable(all) })
		case TypeEvent:
			event, s := of.monitor.undelivered(of.object, due.hook.isOwn)
			if event == "" {
				continue
			}
			c.WatchEvent, c.Snapshot = event, of.monitor.snapshots(s)[0]
			why.causes = append(why.causes, of.causes(event, s)...)
			why.received = append(why.received, func() { of.monitor.deliver(of.object, event, s) })
			why.values.Add(s.Unstructured)
		case "":
			why.causes = append(why.causes, of.causes("")...)
			why.received = append(why.received, func() { t.beginBindings(due.hook) })
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
		why.contexts = append(why.contexts, c)
	}
	return why
}

// causes identify the binding of a trigger, and the states of objects that it delivers. The last state of a deleted object was delivered before.
func (t trigger) causes(event WatchEvent, states ...*state) []string {
	all := []string{t.common.Name}
	for _, s := range states {
		all = append(all, fmt.Sprintf("%s %s %s %t", t.common.Name, s.GetUID(), s.GetResourceVersion(), event == Deleted))
	}
	return all
}

// taskOf returns the task of a run. It follows from what caused the run, so that a process which starts again continues the task of one that was
// killed: with the same objects, a Synchronization has the same task as before. Each run because of a schedule is another one.
func (t *term) taskOf(h *Hook, why occasion) string {
	if len(why.causes) == 0 {
		return string(uuid.NewUUID())
	}
	slices.Sort(why.causes)
	sum := sha256.Sum256([]byte(strings.Join(append([]string{t.options.FieldManager, h.name}, slices.Compact(why.causes)...), "\n")))
	return hex.EncodeToString(sum[:16])
}
