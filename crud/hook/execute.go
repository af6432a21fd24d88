/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// rejection is an error because of which no operation is executed. Its reason is a label of a metric.
type rejection struct {
	error

	reason string
}

func (r *rejection) Unwrap() error { return r.error }

// execute runs the operations of a hook.
func (t *term) execute(ctx context.Context, q *queue, run *Run, h *Hook, file operations.File) answer {
	answer := answer{verdict: succeeded}
	var results []crud.Result
	if answer.err = h.bindings.Settings.check(file.Operations); answer.err == nil {
		results, answer.err = t.runPlan(ctx, run, h, file)
	} else {
		results = make([]crud.Result, len(file.Operations))
		for i := range results {
			results[i].Outcome = crud.NotRun
		}
	}
	t.report(h, file.Report(results, answer.err))
	if !file.DryRun {
		t.addDeletions(q, run, file.Operations, results)
	}
	if answer.err == nil {
		return answer
	}
	answer.verdict = verdictOf(ctx, answer.err)
	switch answer.verdict {
	case conflicted:
		answer.lost = lostBy(file.Operations, answer.err)
	case terminating:
		answer.rest = file.Plan
		answer.rest.Operations = nil
		for i, result := range results {
			if result.Outcome == crud.Failed || result.Outcome == crud.NotRun {
				answer.rest.Operations = append(answer.rest.Operations, file.Operations[i])
			}
		}
	case failed:
		if !slices.ContainsFunc(results, func(r crud.Result) bool { return r.Outcome != crud.NotRun }) {
			countRejection(h.name, &rejection{answer.err, rejectionReason(answer.err)})
		}
	}
	return answer
}

// runPlan runs a plan, and remembers the versions that it wrote.
func (t *term) runPlan(ctx context.Context, run *Run, h *Hook, file operations.File) ([]crud.Result, error) {
	for _, op := range file.Operations {
		run.secrets.addOperation(op)
	}
	if len(file.Operations) == 0 {
		return nil, nil
	}
	client := t.client
	if file.DryRun {
		client = t.preview
	}
	defer t.write(h)()
	file.Task = run.Task
	results, err := client.RunPlan(ctx, file.Plan)
	if !file.DryRun {
		for _, result := range results {
			if result.Object != nil && slices.Contains([]crud.Outcome{crud.Created, crud.Updated, crud.StatusUpdated, crud.Replaced}, result.Outcome) {
				t.own[h].Add(versionOf(result.Object), true)
			}
		}
	}
	return results, err //nolint:wrapcheck // it names the operations
}

// executeAfterError runs the operations that a hook wants although it failed.
func (t *term) executeAfterError(ctx context.Context, run *Run, h *Hook, wanted []crud.Operation) {
	err := h.bindings.Settings.check(wanted)
	if err == nil {
		_, err = t.runPlan(ctx, run, h, operations.File{Plan: crud.Plan{Operations: wanted, Continue: true, SkipPreflight: true}})
	}
	if err != nil {
		run.Logger.Errorw("The operations of a hook that failed are not complete", "error", run.secrets.mask(err.Error()))
	}
}

// check rejects operations outside of the namespaces of the hook.
func (s Settings) check(planned []crud.Operation) error {
	if len(s.Namespaces) == 0 {
		return nil
	}
	for i, op := range planned {
		namespace := op.Namespace
		if namespace == "" && op.Object != nil {
			namespace = op.Object.GetNamespace()
		}
		if !contains(s.Namespaces, namespace) {
			return &rejection{fmt.Errorf("operation %d: %s: the hook may change objects in the namespaces %s of settings.namespaces, not in %q",
				i+1, op, strings.Join(s.Namespaces, ", "), namespace), "namespace"}
		}
	}
	return nil
}

// report keeps how the operations ended for the next run of the hook.
func (t *term) report(h *Hook, report operations.Report) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.previous[h] = &report
}

// verdictOf returns how a run ended whose operations ended with an error. A failure counts more than a conflict, and that more than a deletion
// that is waited for.
func verdictOf(ctx context.Context, err error) verdict {
	worst := terminating
	for _, one := range separate(err) {
		switch crud.ClassOf(one) {
		case crud.Terminating:
		case crud.Conflict:
			worst = conflicted
		default:
			if errors.Is(context.Cause(ctx), errEnding) || ctx.Err() != nil && context.Cause(ctx) != errTimeout { //nolint:errorlint // it is not wrapped
				return canceled
			}
			return failed
		}
	}
	return worst
}

// separate returns the errors that were joined.
func separate(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // an error that was wrapped after it was joined is one
		return joined.Unwrap()
	}
	return []error{err}
}

// rejectionReason returns why the preflight stopped a plan.
func rejectionReason(err error) string {
	if rejected, ok := errors.AsType[*rejection](err); ok {
		return rejected.reason
	}
	switch crud.ClassOf(err) {
	case crud.Malformed:
		return "schema"
	case crud.KindUnknown, crud.KindAmbiguous, crud.ScopeMismatch, crud.SubresourceNotServed, crud.VerbNotServed, crud.DiscoveryUnavailable:
		return "resolve"
	case crud.Forbidden, crud.Unauthorized:
		return "forbidden"
	default:
		return "dryrun"
	}
}

// lostBy returns the version with which an operation of a plan met a conflict.
func lostBy(planned []crud.Operation, err error) (of lost) {
	numbered, ok := errors.AsType[*crud.NumberedError](err)
	if !ok {
		return of
	}
	op := planned[numbered.Number-1]
	of.name = cache.NewObjectName(op.Namespace, op.Name)
	if object := op.Object; object != nil {
		of.name, of.resourceVersion = cache.MetaObjectToName(object), object.GetResourceVersion()
	}
	of.resourceVersion = ptr.Deref(op.Preconditions.ResourceVersion, of.resourceVersion)
	if op.Type == crud.TypeMergePatch {
		var patch struct {
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
			} `json:"metadata"`
		}
		if json.Unmarshal(op.Patch, &patch) == nil && patch.Metadata.ResourceVersion != "" {
			of.resourceVersion = patch.Metadata.ResourceVersion
		}
	}
	return of
}

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
	r := &remainder{plan: plan, deadline: time.Now().Add(within), backoff: wait.Backoff{Duration: 200 * time.Millisecond, Factor: 1.5, Steps: 100, Cap: 10 * time.Second}}
	r.postpone()
	return r
}

func (r *remainder) postpone() { r.next = time.Now().Add(r.backoff.Step()) }

// resume runs the rest of a plan. It is no failure that an object is not deleted yet, until the deadline.
func (t *term) resume(ctx context.Context, q *queue, due *task) {
	ctx, cancel := t.bounded(ctx, t.options.Timeout)
	defer cancel()
	rest := due.resume
	answer := t.execute(ctx, q, rest.run, due.hook, operations.File{Plan: rest.plan})
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
			op.Preconditions.UID = ptr.To(result.Object.GetUID())
			op.Preconditions.ResourceVersion = nil
		}
		run.Logger.Infow("A deletion waits for finalizers", "operation", op.String(), "finalizers", result.Finalizers)
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
		t.forget(q, d)
	case err == nil && results[0].Outcome != crud.Deleting, crud.ClassOf(err) == crud.Precondition:
		d.run.Logger.Infow("A deletion is complete", "operation", d.plan.Operations[0].String())
		t.forget(q, d)
	}
	d.postpone()
}

func (t *term) forget(q *queue, d *remainder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q.deletions = slices.DeleteFunc(q.deletions, func(other *remainder) bool { return other == d })
}

func contains(values []string, value string) bool { return slices.Contains(values, value) }
