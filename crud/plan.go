/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// establishing is the time for which a plan waits until the kind of a CustomResourceDefinition that it created is served.
	establishing = 30 * time.Second
	// propagation is the time for which a plan waits until the API server applies the effect of an operation to others: its caches are late.
	propagation         = 3 * time.Second
	propagationInterval = 100 * time.Millisecond
)

// Plan is a list of operations, which are executed in order.
type Plan struct {
	Operations []Operation
	// Task makes it safe to run the plan again, also in another process after a crash: operations that must not be executed twice get an
	// Operation.ID from the task, their content and the number of equal ones before, except for patches of the status. It must be the same for each
	// attempt of one task, and another one for each task.
	Task string
	// Continue executes the operations after one that failed, too.
	Continue bool
	// SkipPreflight begins with the first operation without checking the others.
	SkipPreflight bool
	// Results are those of an earlier run of the same plan. Operations that succeeded in it keep their results, and are not executed again. If there is
	// one, the preflight is skipped.
	Results []Result
	// Checked is called after the preflight of each operation, if it is not nil.
	Checked func(number int)
	// Done is called after each operation that was executed, if it is not nil. Result.Object is the whole object, unless the preflight has found
	// that the operation changes nothing.
	Done func(number int, result Result, err error)
}

// RunPlan executes a plan. Unless the preflight is skipped, nothing is executed if an operation cannot succeed as the cluster is: its kind
// is not served, or the API server rejects its dry run, also for a permission that is missing. An operation that depends on an earlier one of the plan,
// such as an object in a Namespace that it creates, is checked when it runs; so is the only operation of a plan.
// The API server may apply the effect of one operation to the next ones after a moment, so that one that depends on it is repeated for 3 s.
//
// There is one result per operation, in order; those after a failure, or after the end of the context, are NotRun. Their objects have only a kind,
// a namespace, a name, a UID and a resourceVersion, so that the results of a long plan need little memory. Errors name the number of the
// operation, counted from 1. They and warnings have no value that the plan writes into a Secret.
func (c *Client) RunPlan(ctx context.Context, plan Plan) (results []Result, failed error) {
	ctx, span := otel.Tracer(scope).Start(ctx, "RunPlan", trace.WithAttributes(attribute.Int("crud.operations", len(plan.Operations))))
	defer func() { endSpan(span, failed) }()
	results = make([]Result, len(plan.Operations))
	hasBegun := false
	for i := range results {
		results[i].Outcome = NotRun
		if i < len(plan.Results) && plan.Results[i].Outcome.Succeeded() {
			results[i], hasBegun = plan.Results[i], true
		}
	}
	var operations []Operation
	if err := guarded("the plan", func() error {
		operations = plan.identified()
		return nil
	}); err != nil {
		return results, err
	}
	c = c.planned(operations)
	foreseen := make([]foresight, len(operations))
	isChecked := !plan.SkipPreflight && !hasBegun
	if isChecked && len(operations) > 1 { // otherwise, the execution is the check
		p := &preflight{Client: c.DryRun(), plan: &plan, foreseen: foreseen, touched: map[Ref]bool{}}
		if err := p.run(ctx, operations); err != nil {
			return results, err
		}
	}
	var (
		errs []error
		done effects
	)
	for i, op := range operations {
		if results[i].Outcome.Succeeded() {
			continue
		}
		if ctx.Err() != nil {
			errs = append(errs, canceled(ctx, fmt.Errorf("operation %d and those after it were not executed", i+1)))
			break
		}
		call, err := c.runAfter(ctx, done, op, foreseen[i])
		whole := call.result
		call.result.Object = identity(whole.Object)
		done = append(done, effect{Ref: call.op.Ref, outcome: call.result.Outcome, ended: time.Now()})
		mayHaveChanged := slices.Contains([]Class{"", Uncertain, Canceled}, ClassOf(err)) || call.result.Deleted != "" || op.Strategy == Apply
		c.mask(&call.result, err)
		if isChecked && len(operations) == 1 && !mayHaveChanged {
			return results, numbered(i, err) // as after a preflight
		}
		if plan.Done != nil {
			plan.Done(i+1, whole, err)
		}
		if results[i] = call.result; err != nil {
			errs = append(errs, numbered(i, err))
			if !plan.Continue {
				break
			}
		}
	}
	return results, errors.Join(errs...)
}

// identity returns the part of an object that names it and its state.
func identity(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": map[string]any{
			"namespace": object.GetNamespace(), "name": object.GetName(), "uid": string(object.GetUID()), "resourceVersion": object.GetResourceVersion(),
		},
	}}
}

// runAfter runs an operation. It runs it again for a while if it may have failed because the API server does not apply the effect of one of the
// operations before yet.
func (c *Client) runAfter(ctx context.Context, before effects, op Operation, seen foresight) (*call, error) {
	for {
		call := &call{Client: c, op: op, foreseen: seen}
		_, err := call.execute(ctx)
		class, limit := ClassOf(err), propagation
		if class == KindUnknown {
			limit = establishing
		}
		seen = foresight{}
		last := before.explaining(call.op, err)
		if last == nil || class == Uncertain || time.Since(last.ended) > limit || !sleep(ctx, propagationInterval) {
			return call, err
		}
	}
}

// Errors returns the errors that RunPlan joined: none for nil.
func Errors(err error) []error {
	switch joined := err.(type) { //nolint:errorlint // an error that was wrapped after it was joined is one
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		return joined.Unwrap()
	}
	return []error{err}
}

// NumberedError is the error of one operation of a plan. RunPlan returns several joined: see Errors.
type NumberedError struct {
	// Number is that of the operation in the plan, counted from 1.
	Number int
	Err    error
}

func numbered(i int, err error) error { return &NumberedError{i + 1, err} }

// Error implements error.
func (n *NumberedError) Error() string { return fmt.Sprintf("operation %d: %s", n.Number, n.Err) }

// Unwrap returns the error of the operation.
func (n *NumberedError) Unwrap() error { return n.Err }
