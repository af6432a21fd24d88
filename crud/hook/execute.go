/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

// rejection is an error because of which no operation is executed. Its reason is a label of a metric.
type rejection struct {
	error

	reason string
}

func (r *rejection) Unwrap() error { return r.error }

func (t *term) execute(ctx context.Context, due *task, file operations.File) answer {
	h, run := due.hook, due.run
	answer := answer{verdict: succeeded, cause: &crud.Error{}}
	var results []crud.Result
	results, answer.err = t.runPlan(ctx, run, h, file)
	for i, result := range results {
		if i < len(file.Results) && file.Results[i].Outcome.Succeeded() {
			continue // before the plan waited for a deletion
		}
		if result.Object != nil && result.Contested != "" {
			t.recordf(run, result.Object, corev1.EventTypeWarning, ReasonWriteFight,
				"What hook %s writes is undone again and again %s: its writes are delayed", run.Hook, result.Contested)
		}
		if finalizers := ofOthers(result.Finalizers); result.Outcome == crud.Deleting && finalizers != "" {
			run.Logger.Infow("Finalizers delay a deletion", "operation", file.Operations[i].String(), "finalizers", finalizers)
			t.recordf(run, result.Object, corev1.EventTypeNormal, ReasonDeletionDelayed,
				"Hook %s has requested the deletion, which the finalizers %s delay", run.Hook, finalizers)
		}
	}
	if answer.err == nil {
		// A run that is repeated would count twice, so its metrics are exported once it has succeeded.
		if answer.err = t.custom.apply(run.Hook, run.metrics, t.isOver); answer.err != nil {
			answer.verdict = failed
		}
		return answer
	}
	var cause error
	answer.verdict, cause = verdictOf(ctx, file.Operations, answer.err)
	if failure, ok := errors.AsType[*crud.Error](cause); ok {
		answer.cause = failure
	}
	switch answer.verdict {
	case succeeded, canceled:
	case conflicted:
		answer.lost = requiredVersion(file.Operations, cause)
	case terminating:
		if finalizers := ofOthers(answer.cause.Finalizers); finalizers != "" {
			t.recordErrorf(due, answer.cause, corev1.EventTypeNormal, ReasonDeletionDelayed,
				"Hook %s waits for the deletion, which the finalizers %s delay", run.Hook, finalizers)
		}
		file.Results = results
		answer.rest = &file
	case failed:
		if !slices.ContainsFunc(results, func(r crud.Result) bool { return r.Outcome != crud.NotRun }) {
			t.measured.countRejection(h.name, answer.err, "preflight")
		}
	}
	return answer
}

// runPlan runs a plan, and remembers the versions that it wrote, and the objects that it deleted.
func (t *term) runPlan(ctx context.Context, run *Run, h *Hook, file operations.File) ([]crud.Result, error) {
	if len(file.Operations) == 0 {
		return nil, nil
	}
	defer t.write(h)()
	file.Task = run.Task
	results, err := t.client.RunPlan(ctx, file.Plan)
	for _, result := range results {
		if result.Object != nil && slices.Contains([]crud.Outcome{crud.Created, crud.Updated, crud.StatusUpdated, crud.Replaced}, result.Outcome) {
			h.own.Add(versionOf(result.Object), true)
		}
		if result.Deleted != "" {
			h.own.Add(deletionOf(result.Deleted), true)
		}
	}
	return results, err
}

// executeAfterError runs the operations that a hook wants although it failed.
func (t *term) executeAfterError(ctx context.Context, run *Run, h *Hook, wanted []crud.Operation) {
	ctx, cancel := bounded(ctx, t.ctx, t.options.Timeout, t.options.Grace, errTimeout)
	defer cancel()
	err := h.bindings.Settings.check(wanted)
	if err == nil {
		_, err = t.runPlan(ctx, run, h, operations.File{Plan: crud.Plan{Operations: wanted, Continue: true, SkipPreflight: true}})
	}
	if err != nil {
		run.Logger.Errorw("The operations of a hook that failed are not complete", "error", run.values.Mask(err.Error()))
	}
}

// check rejects operations outside of the namespaces of the hook.
func (s Settings) check(planned []crud.Operation) error {
	if len(s.Namespaces) == 0 {
		return nil
	}
	for i, op := range planned {
		namespace := op.Target().Namespace
		if !slices.Contains(s.Namespaces, namespace) {
			return &rejection{fmt.Errorf("operation %d: %s: the hook may change objects in the namespaces %s of settings.namespaces, not in %q",
				i+1, op, strings.Join(s.Namespaces, ", "), namespace), "namespace"}
		}
	}
	return nil
}

// severity orders the verdicts of operations: that a process ends counts more than a failure, that more than a conflict, and that more than a
// deletion that is waited for.
var severity = []verdict{"", terminating, conflicted, failed, canceled}

// verdictOf returns the verdict of a run whose operations failed, and the error that decides it.
func verdictOf(ctx context.Context, planned []crud.Operation, err error) (worst verdict, cause error) {
	for _, one := range crud.Errors(err) {
		found := failed
		switch class := crud.ClassOf(one); {
		case class == crud.Terminating:
			found = terminating
		// That an object which the hook has received does not exist anymore is a change like others.
		case class == crud.Conflict, class == crud.NotFound && requiredVersion(planned, one) != "":
			found = conflicted
		case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTimeout):
			found = canceled
		}
		if slices.Index(severity, found) > slices.Index(severity, worst) {
			worst, cause = found, one
		}
	}
	return worst, cause
}

func requiredVersion(planned []crud.Operation, err error) string {
	if numbered, ok := errors.AsType[*crud.NumberedError](err); ok {
		return planned[numbered.Number-1].RequiredVersion()
	}
	return ""
}
