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
	// Result is that of the dry run.
	Result Result
	Err    error
	// Deferred operations depend on one before, so that they cannot be tried. Their outcome is NotRun.
	Deferred bool
	// Before and After are the states of the object, nil if it does not exist.
	Before, After *unstructured.Unstructured

	confidential confidential.Kinds
}

// Preview returns the change that each of the operations would make, and changes nothing.
func (c *Client) Preview(ctx context.Context, operations []Operation) []Change {
	p := newPreflight(c)
	changes := make([]Change, len(operations))
	for i, op := range operations {
		dependent, _, err := p.check(ctx, op)
		switch {
		case err != nil:
			changes[i] = Change{Result: Result{Outcome: Failed}, Err: err}
		case !dependent:
			changes[i] = p.preview(ctx, op)
			p.effects[i].outcome = changes[i].Result.Outcome
			dependent = p.effects[:i].explaining(op, changes[i].Err) != nil
		}
		if dependent {
			changes[i] = Change{Result: Result{Outcome: NotRun}, Deferred: true}
			p.effects[i].outcome = ""
		}
	}
	return changes
}

func (p *preflight) preview(ctx context.Context, op Operation) (change Change) {
	call := &call{Client: p.Client, op: op}
	change.confidential = p.options.ConfidentialKinds
	err := errors.Join(call.prepare(), call.resolve())
	if err == nil && call.op.Name != "" {
		change.Before, err = call.get(ctx)
	}
	if err != nil && ClassOf(err) != NotFound {
		return Change{Result: Result{Outcome: Failed}, Err: call.failed(ctx, err)}
	}
	change.Result, change.Err = p.Run(ctx, op)
	switch change.Result.Outcome {
	case Created, Updated, StatusUpdated:
		change.After = change.Result.Object
	case Replaced:
		change.After = call.desired()
	case Deleted, Deleting, AlreadyAbsent: // nothing is left
	default:
		change.After = change.Before
	}
	return change
}

// Diff returns the change as a unified diff of YAML, and "" without a change. It does not show values of Secrets, and leaves out the fields that
// the API server sets on each write.
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
	from, err := lines(before)
	if err != nil {
		return "", err
	}
	to, err := lines(after)
	if err != nil {
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
