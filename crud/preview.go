/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/confidential"
)

// Change is the effect that an operation would have.
type Change struct {
	// Result is that of the dry run. The outcome is NotRun for an operation that depends on one before, so that it cannot be tried.
	Result Result
	Err    error
	// Before and After are the states of the object, nil if it does not exist.
	Before, After *unstructured.Unstructured

	confidential confidential.Kinds
	written      func() *confidential.Values
}

// Preview returns the change that each of the operations would make, and changes nothing.
func (c *Client) Preview(ctx context.Context, operations []Operation) []Change {
	p := &preflight{Client: c.DryRun().planned(operations), touched: map[Ref]bool{}}
	changes := make([]Change, len(operations))
	for i, op := range operations {
		dependent, err := p.check(ctx, op)
		tried := &call{Client: p.Client, op: op, result: Result{Outcome: Failed}}
		if err == nil && !dependent {
			dependent, err = p.execute(ctx, i, tried)
		}
		if dependent {
			tried.result = Result{Outcome: NotRun}
		}
		changes[i] = tried.change(ctx)
		changes[i].Err = err
		p.mask(&changes[i].Result, err)
	}
	return changes
}

// change returns the states before and after the operation.
func (c *call) change(ctx context.Context) Change {
	change := Change{Result: c.result, Before: c.read, confidential: c.options.ConfidentialKinds, written: c.written}
	if change.Before == nil && c.objects != nil && c.op.Name != "" {
		change.Before, _ = c.get(ctx) // if it fails, the result has the error
	}
	switch change.Result.Outcome {
	case Created, Updated, StatusUpdated:
		change.After = change.Result.Object
	case Replaced:
		change.After = c.desired()
	case Deleted, Deleting, AlreadyAbsent: // nothing is left
	default:
		change.After = change.Before
	}
	return change
}

// Diff returns the change as a unified diff of YAML, and "" without a change. It does not show values of Secrets, also of those that the operations
// write and that another object has, and leaves out the fields that the API server sets on each write.
func (c Change) Diff() (string, error) {
	before, after := shown(c.Before), shown(c.After)
	values := &confidential.Values{Kinds: c.confidential}
	if object := cmp.Or(c.Before, c.After); object != nil && values.Kinds.Has(object.GroupVersionKind().GroupKind()) {
		values.Add(c.Before)
		values.Add(c.After)
		for field := range sets.KeySet(before).Union(sets.KeySet(after)) {
			mask(before, after, field, confidential.Public.Has(field), values)
		}
	}
	if c.written != nil {
		c.written().MaskFields(before)
		c.written().MaskFields(after)
	}
	from, fromErr := lines(before)
	to, toErr := lines(after)
	if err := errors.Join(fromErr, toErr); err != nil {
		return "", err
	}
	const context = 3
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: from, FromFile: title(c.Before), B: to, ToFile: title(c.After), Context: context,
	})
	if err != nil {
		return "", fmt.Errorf("comparing the states: %w", err)
	}
	return diff, nil
}

func shown(object *unstructured.Unstructured) map[string]any {
	if object == nil {
		return nil
	}
	fields := object.DeepCopy().Object
	metadata, _ := fields["metadata"].(map[string]any)
	for _, field := range serverFields {
		delete(metadata, field)
	}
	return fields
}

// mask shows of a value only whether it changes. A public one is shown unless it contains one of the confidential values.
func mask(before, after map[string]any, key string, isPublic bool, values *confidential.Values) {
	from, was := before[key]
	to, is := after[key]
	inner, isMap := from.(map[string]any)
	other, isOther := to.(map[string]any)
	if (isMap || from == nil) && (isOther || to == nil) {
		for name := range sets.KeySet(inner).Union(sets.KeySet(other)) {
			mask(inner, other, name, isPublic, values)
		}
		return
	}
	if isPublic && key != corev1.LastAppliedConfigAnnotation && !values.Hides(fmt.Sprint(from)) && !values.Hides(fmt.Sprint(to)) {
		return
	}
	if was {
		before[key] = "***"
	}
	if is {
		after[key] = "***"
	}
	if was && is && !equal(from, to) {
		before[key], after[key] = "*** (before)", "*** (after)"
	}
}

func title(object *unstructured.Unstructured) string {
	if object == nil {
		return "/dev/null"
	}
	return object.GetAPIVersion() + " " + Ref{Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}.String()
}

func lines(fields map[string]any) ([]string, error) {
	if fields == nil {
		return nil, nil
	}
	text, err := yaml.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("encoding the object as YAML: %w", err)
	}
	return slices.Collect(strings.Lines(string(text))), nil
}
