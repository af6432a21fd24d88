/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/itchyny/gojq"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud/internal/child"
)

// change returns an object as a filter sees it, and after the filter.
type change func(ctx context.Context, live *unstructured.Unstructured) (before, after map[string]any, err error)

func newObject[T Object]() T {
	object, _ := reflect.TypeAssert[T](reflect.New(reflect.TypeFor[T]().Elem())) // a pointer to what T points to
	return object
}

// typedChange calls f with an own copy of the object. Fields that T does not have are in neither state, so that they stay; but a list that f
// changes is replaced, so that its items must not have such fields.
func typedChange[T Object](f func(T) error) (change, error) {
	if reflect.TypeFor[T]().Kind() != reflect.Pointer {
		return nil, errors.New("the function must take a pointer to an API type, not an interface")
	}
	return func(_ context.Context, live *unstructured.Unstructured) (before, after map[string]any, err error) {
		object := newObject[T]()
		err = apiruntime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(live.DeepCopy().Object, object, true)
		unknown := apiruntime.IsStrictDecodingError(err)
		if err != nil && !unknown {
			return nil, nil, fmt.Errorf("reading the object as %T: %w", object, err)
		}
		reading := err
		if before, err = fields(object); err != nil {
			return nil, nil, err
		}
		if err := guarded(aFilter, func() error { return f(object) }); err != nil {
			after, _ = fields(object) // whose values may be in the error
			return before, after, err
		}
		if after, err = fields(object); err == nil && unknown && holdsList(mergePatch(before, after, true)) {
			err = fmt.Errorf("the function changes a list, and %T does not have all fields of the object: %w", object, reading)
		}
		return before, after, err
	}, nil
}

// isNil reports whether there is no object, also if its type is known.
func isNil(object Object) bool {
	return object == nil || reflect.ValueOf(object).IsNil()
}

const aFilter = "the filter"

// guarded returns a panic of a part of an operation as an error, so that it does not end the process. A request may have been sent before. The
// stack is in the cause of an Error. Of parts other than filters, whose values are masked, a panic that is not of the Go runtime may have values.
func guarded(part string, f func() error) (err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if _, ok := cause.(runtime.Error); !ok && part != aFilter {
			cause = fmt.Sprintf("%T", cause)
		}
		err = Uncertain.errorf("%s panicked: %v\n%s", part, cause, debug.Stack())
	}()
	return f()
}

// fields returns a copy of an object as the API server decodes it. A field of a Go type that is nil is left out: only an unstructured object can
// request a removal. Values are normalized by JSON, since unstructured objects can contain any Go value.
func fields(object apiruntime.Object) (fields map[string]any, err error) {
	encoded, err := json.Marshal(object)
	u, untyped := object.(*unstructured.Unstructured)
	if untyped {
		encoded, err = json.Marshal(u.Object) // its own encoder requires a kind
	}
	if err == nil {
		err = utiljson.Unmarshal(encoded, &fields)
	}
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", object, err)
	}
	if !untyped {
		fields = withoutNulls(fields)
	}
	return fields, nil
}

// filterPatch reads the object, unless the caller has its snapshot, and writes what the filter changes, until no other write comes between.
func (c *call) filterPatch(ctx context.Context) error {
	var (
		pending map[string]any // the patch whose answer was lost
		read    string         // the resourceVersion of the state from which it was made
		unknown error          // whether it was executed
	)
	err := c.retry(ctx, func() (err error) {
		live := c.object
		if live == nil {
			live, err = c.get(ctx)
		}
		if err != nil {
			return err
		}
		if c.wasExecuted(live) {
			return nil
		}
		// With an id, the patch was not executed.
		if pending != nil && c.op.ID == "" && live.GetResourceVersion() != read {
			unknown = c.wasWritten(live, pending)
			return nil
		}
		if err := errors.Join(checkPreconditions(live, c.op.Preconditions), c.checkOwner(live)); err != nil {
			return err
		}
		patch, err := c.writeChange(ctx, live)
		if ClassOf(err) == Uncertain {
			pending, read = patch, live.GetResourceVersion()
		}
		return err
	})
	return c.skipMissing(ctx, errors.Join(err, unknown))
}

// skipMissing makes an operation succeed without an object if the caller wants that. That the status was not found does not mean that.
func (c *call) skipMissing(ctx context.Context, err error) error {
	if ClassOf(err) != NotFound || !c.op.IgnoreMissing {
		return err
	}
	if c.op.StatusPatch {
		if _, main := c.get(ctx); ClassOf(main) != NotFound {
			return err
		}
	}
	c.result.Outcome = Skipped
	return nil
}

// wasWritten decides about a patch whose answer was lost, from a state after it. The filter does not run again: it may add to what it wrote.
func (c *call) wasWritten(live *unstructured.Unstructured, pending map[string]any) error {
	ours := func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == c.options.FieldManager }
	if mergePatch(live.Object, pending, false) != nil || !slices.ContainsFunc(live.GetManagedFields(), ours) {
		return Uncertain.errorf("the answer to the patch was lost, and the object has changed in another way since then")
	}
	c.updated(nil, live)
	return nil
}

// writeChange writes what the filter changes in an object, and returns the patch that it has sent.
func (c *call) writeChange(ctx context.Context, live *unstructured.Unstructured) (patch map[string]any, err error) {
	before, after, err := c.op.change(ctx, live)
	if ClassOf(err) == PatchTestFailed {
		return nil, err
	}
	if err == nil {
		err = c.checkChange(live, after)
	}
	if err != nil && c.isConfidential() {
		values := confidential.Values{}
		values.AddFields(live.Object)
		values.AddFields(after)
		err = values.Error(err)
	}
	if err != nil {
		return nil, FilterFailed.of(err)
	}
	if patch = mergePatch(before, after, true); patch == nil {
		return nil, c.unchanged()
	}
	if c.op.ID != "" && !c.hasFixedPoint(ctx, after) {
		patch = mergePatch(before, c.marked(live, after), true)
	}
	status, isChanged := patch["status"]
	switch {
	case !c.op.StatusPatch:
	case patch["metadata"] != nil:
		return nil, FilterFailed.errorf("the filter changed metadata, and StatusPatch writes the status only")
	case isChanged && status == nil:
		return nil, FilterFailed.errorf("the filter removed the status")
	}
	if err := c.checkFields(patch); err != nil {
		return nil, err
	}
	patched, err := c.patchFields(ctx, live, patch)
	if err == nil {
		c.updated(live, patched)
	}
	return patch, err
}

// hasFixedPoint reports whether the jq program leaves its own result as it is, so that it can be executed again. A function in Go is not called
// for that, since it may do something else, too.
func (c *call) hasFixedPoint(ctx context.Context, after map[string]any) bool {
	if c.op.Type != TypeJQPatch {
		return false
	}
	_, again, err := c.op.change(ctx, &unstructured.Unstructured{Object: after})
	return err == nil && equal(after, again)
}

// checkChange rejects a result that is another object than the filter got. The result is restored to its resourceVersion.
func (c *call) checkChange(live *unstructured.Unstructured, after map[string]any) error {
	changed := unstructured.Unstructured{Object: after}
	for _, field := range []struct{ name, before, after string }{
		{"apiVersion", live.GetAPIVersion(), changed.GetAPIVersion()},
		{"kind", live.GetKind(), changed.GetKind()},
		{"metadata.name", live.GetName(), changed.GetName()},
		{"metadata.namespace", live.GetNamespace(), changed.GetNamespace()},
		{"metadata.uid", string(live.GetUID()), string(changed.GetUID())},
	} {
		if field.before != field.after {
			return fmt.Errorf("the filter changed %s", field.name)
		}
	}
	changed.SetResourceVersion(live.GetResourceVersion())
	return nil
}

// jqChange runs a program, which must return the object alone. Errors do not contain values of the object, which may be secret.
func jqChange(program string) change {
	return func(ctx context.Context, live *unstructured.Unstructured) (before, after map[string]any, err error) {
		results, err := child.Run(ctx, program, live.Object)
		switch {
		case err != nil:
		case len(results) != 1:
			err = fmt.Errorf("the jq program returned %d values: it must return the object alone", len(results))
		case results[0][0] != '{':
			var other any
			_ = json.Unmarshal(results[0], &other) // it is JSON
			err = fmt.Errorf("the jq program returned %s: it must return the object", gojq.TypeOf(other))
		default:
			err = utiljson.Unmarshal(results[0], &after)
		}
		return live.Object, after, err //nolint:wrapcheck // of an object
	}
}
