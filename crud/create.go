/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/base64"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func (c *call) createNew(ctx context.Context) error {
	desired := c.desired()
	if c.op.ID != "" {
		c.markNew(desired)
	}
	return c.retry(ctx, func() error {
		err := c.create(ctx, desired)
		if class := ClassOf(err); c.op.ID == "" || class != AlreadyExists && class != Terminating {
			return err
		}
		switch live, failed := c.get(ctx); {
		case failed != nil && ClassOf(failed) != NotFound:
			return failed
		case failed == nil && c.wasExecuted(live):
			return nil
		}
		c.result.Object = nil // another one
		return err
	})
}

// serverFields are the fields of the metadata that only the API server writes.
var serverFields = []string{
	"managedFields", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink", "uid", "resourceVersion",
}

// desired returns the object of the operation without fields that only the API server writes. A kind without status subresource stores the
// status with the rest of a new object.
func (c *call) desired() *unstructured.Unstructured {
	desired := c.object.DeepCopy()
	if status, ok := desired.Object["status"]; ok && (c.kind.hasStatus || c.op.Type == TypeCreateOrUpdate) {
		// That of a typed object has fields although it is not set.
		empty, _ := reflect.TypeAssert[runtime.Object](reflect.New(reflect.TypeOf(c.op.Object).Elem()))
		if unset, err := fields(empty); err != nil || !equal(status, unset["status"]) {
			c.result.Warnings = append(c.result.Warnings, "status is not written: use a patch with StatusPatch")
		}
		delete(desired.Object, "status")
	}
	encodeStringData(desired)
	if metadata, ok := desired.Object["metadata"].(map[string]any); ok {
		for _, field := range serverFields {
			delete(metadata, field)
		}
		// They are united with those of others, so that none is removed.
		for _, field := range []string{"finalizers", "ownerReferences"} {
			if metadata[field] == nil {
				delete(metadata, field)
			}
		}
	}
	return desired
}

// encodeStringData moves the strings of a Secret to the field in which the API server returns them.
func encodeStringData(desired *unstructured.Unstructured) {
	values, ok := desired.Object["stringData"].(map[string]any)
	if !ok || desired.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return
	}
	data, ok := desired.Object["data"].(map[string]any)
	if !ok {
		data = map[string]any{}
	}
	for key, value := range values {
		if text, ok := value.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
			delete(values, key)
		}
	}
	desired.Object["data"] = data
	if len(values) == 0 { // otherwise, the API server rejects the rest
		delete(desired.Object, "stringData")
	}
}

func (c *call) create(ctx context.Context, desired *unstructured.Unstructured) error {
	created, err := c.post(ctx, &unstructured.Unstructured{Object: withoutNulls(desired.Object)})
	if err != nil {
		return err
	}
	c.result.Outcome = Created
	c.settle(created)
	return nil
}

// holdsData are kinds that are never deleted to change a field.
var holdsData = map[string]bool{"PersistentVolumeClaim": true, "Namespace": true, "CustomResourceDefinition.apiextensions.k8s.io": true}

// recreate deletes an object because of a field that cannot be changed, which immutable names, and creates it again.
func (c *call) recreate(ctx context.Context, live, desired *unstructured.Unstructured, immutable error) error {
	if holdsData[c.kind.GroupKind().String()] {
		return fmt.Errorf("a %s is not recreated, since its data would be lost: %w", c.kind.Kind, immutable)
	}
	// The dry run of the API server validates an object before it finds that one exists.
	trial := &call{Client: c.DryRun(), op: c.op, kind: c.kind, objects: c.objects}
	if _, err := trial.post(ctx, &unstructured.Unstructured{Object: withoutNulls(desired.Object)}); err != nil && ClassOf(err) != AlreadyExists {
		return fmt.Errorf("the object is not recreated, since it could not be created: %w", err)
	}
	uid, version := live.GetUID(), live.GetResourceVersion()
	err := c.delete(ctx, metav1.DeletePropagationBackground, metav1.Preconditions{UID: &uid, ResourceVersion: &version})
	switch {
	case ClassOf(err) == Precondition:
		return Conflict.of(err)
	case err != nil && (c.hasPreconditions() || !apierrors.IsNotFound(err)):
		return err
	}
	c.op.Preconditions = metav1.Preconditions{} // of the object that is deleted now
	if !c.options.DryRun {
		if err := c.replaceTerminating(ctx, live, desired); err != nil {
			return err
		}
	}
	c.result.Outcome = Replaced
	return nil
}
