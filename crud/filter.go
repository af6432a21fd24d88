/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// change returns an object as a filter sees it, and after the filter.
type change func(ctx context.Context, live *unstructured.Unstructured) (before, after map[string]any, err error)

func newObject[T Object]() T { return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T) }

// typedChange calls f with an own copy of the object. Fields that T does not have are in neither state, so that they stay.
func typedChange[T Object](f func(T) error) change {
	return func(_ context.Context, live *unstructured.Unstructured) (before, after map[string]any, err error) {
		object := newObject[T]()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.DeepCopy().Object, object); err != nil {
			return nil, nil, fmt.Errorf("reading the object as %T: %w", object, err)
		}
		if before, err = fields(object); err != nil {
			return nil, nil, err
		}
		before = runtime.DeepCopyJSON(before)
		if err := guarded(func() error { return f(object) }); err != nil {
			return nil, nil, err
		}
		after, err = fields(object)
		return before, after, err
	}
}

// isNil reports whether there is no object, also if its type is known.
func isNil(object Object) bool {
	return object == nil || reflect.ValueOf(object).IsNil()
}

// guarded returns a panic as an error, so that a filter does not end the process.
func guarded(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the filter panicked: %v", cause)
		}
	}()
	return f()
}

// fields returns an object as a map, which may share its content.
func fields(object runtime.Object) (map[string]any, error) {
	if u, ok := object.(*unstructured.Unstructured); ok {
		return u.Object, nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", object, err)
	}
	return fields, nil
}

// filterPatch reads the object and writes what the filter changes, until no other write comes between.
func (c *call) filterPatch(ctx context.Context) error {
	var (
		pending map[string]any // the patch whose answer was lost
		read    string         // the resourceVersion of the state from which it was made
	)
	err := c.retry(ctx, func() error {
		live, err := c.get(ctx)
		if err != nil {
			return err
		}
		if err := errors.Join(c.checkPreconditions(live), c.checkOwner(live)); err != nil {
			return err
		}
		if pending != nil && live.GetResourceVersion() != read {
			return c.wasWritten(live, pending)
		}
		pending, err = c.writeChange(ctx, live)
		read = live.GetResourceVersion()
		return err
	}, Conflict, Uncertain)
	if ClassOf(err) == NotFound && c.op.IgnoreMissing {
		c.result.Outcome, err = Skipped, nil
	}
	return err
}

// filterPatchOptimistic writes what the filter changes in the caller's snapshot.
func (c *call) filterPatchOptimistic(ctx context.Context) error {
	return c.retry(ctx, func() error {
		_, err := c.writeChange(ctx, c.object)
		return err
	})
}

// wasWritten decides about a patch whose answer was lost, from a state after it. The filter does not run again: it may add to what it wrote.
func (c *call) wasWritten(live *unstructured.Unstructured, pending map[string]any) error {
	if mergePatch(live.Object, pending, false) != nil {
		return errors.New("the answer to the patch was lost, and the object has changed in another way since then")
	}
	c.updated(nil, live)
	return nil
}

// writeChange writes what the filter changes in an object. It returns the patch if its answer was lost.
func (c *call) writeChange(ctx context.Context, live *unstructured.Unstructured) (pending map[string]any, err error) {
	before, after, err := c.op.change(ctx, live)
	if err == nil {
		err = c.checkChange(live, after)
	}
	if err != nil {
		return nil, &classified{FilterFailed, err}
	}
	patch := mergePatch(before, after, true)
	if patch == nil {
		c.result.Outcome = Unchanged
		return nil, nil
	}
	if err := c.checkChangedFields(patch); err != nil {
		return nil, err
	}
	patched, err := c.patchFields(ctx, live, patch, true)
	switch {
	case ClassOf(err) == Uncertain:
		return patch, err
	case err != nil:
		return nil, err
	}
	c.updated(live, patched)
	return nil, nil
}

// checkChangedFields rejects a change of which the API server would ignore a part, or which removes the status as a whole.
func (c *call) checkChangedFields(patch map[string]any) error {
	for field, value := range patch {
		if err := c.checkField(field); err != nil {
			return err
		}
		switch {
		case c.op.StatusPatch && field != "status":
			return &classified{FilterFailed, fmt.Errorf("the filter changed %s, and StatusPatch writes the status only", field)}
		case c.op.StatusPatch && value == nil:
			return &classified{FilterFailed, errors.New("the filter removed the status")}
		}
	}
	return nil
}

// checkChange rejects a result that is another object than the filter got. The result is restored to its resourceVersion.
func (c *call) checkChange(live *unstructured.Unstructured, after map[string]any) error {
	changed := unstructured.Unstructured{Object: after}
	for field, values := range map[string][2]string{
		"apiVersion":         {live.GetAPIVersion(), changed.GetAPIVersion()},
		"kind":               {live.GetKind(), changed.GetKind()},
		"metadata.name":      {live.GetName(), changed.GetName()},
		"metadata.namespace": {live.GetNamespace(), changed.GetNamespace()},
		"metadata.uid":       {string(live.GetUID()), string(changed.GetUID())},
	} {
		if values[0] != values[1] {
			return fmt.Errorf("the filter changed %s", field)
		}
	}
	changed.SetResourceVersion(live.GetResourceVersion())
	if live.GetDeletionTimestamp() != nil {
		for _, finalizer := range changed.GetFinalizers() {
			if !slices.Contains(live.GetFinalizers(), finalizer) {
				return fmt.Errorf("the filter added the finalizer %s to an object that is being deleted", finalizer)
			}
		}
	}
	return nil
}
