/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/dump"
)

// settledKey is a state of an object, and a desired state that the API server does not see a difference to.
type settledKey struct {
	uid             types.UID
	resourceVersion string
	desired         uint64
}

func (c *call) settledKey(live, desired *unstructured.Unstructured) settledKey {
	hash := fnv.New64a()
	fmt.Fprint(hash, c.op.Strategy, dump.ForHash(desired.Object))
	return settledKey{live.GetUID(), live.GetResourceVersion(), hash.Sum64()}
}

func (c *call) createOrUpdate(ctx context.Context) error {
	desired := c.desired()
	again := []Class{Uncertain, Conflict, AlreadyExists}
	if c.hasPreconditions() {
		again = nil // an object that changes meanwhile does not fit anymore
	}
	return c.retry(ctx, func() error {
		live, err := c.get(ctx)
		switch {
		case ClassOf(err) == NotFound && !c.hasPreconditions():
			return c.create(ctx, desired)
		case err != nil:
			return err
		}
		if err := errors.Join(checkPreconditions(live, c.op.Preconditions), c.checkOwner(live)); err != nil {
			return err
		}
		if live.GetDeletionTimestamp() != nil && c.op.OnTerminating != PatchTerminating {
			return c.replaceTerminating(ctx, live, desired)
		}
		err = c.update(ctx, live, desired)
		switch class := ClassOf(err); {
		case class == Immutable && c.op.OnImmutable == Recreate:
			return c.recreate(ctx, live, desired, err)
		case class == NotFound && !c.hasPreconditions():
			return Conflict.of(err) // it was deleted meanwhile, and is created by the next attempt
		}
		return err
	}, again...)
}

func (c *call) hasPreconditions() bool {
	return c.op.Preconditions.UID != nil || c.op.Preconditions.ResourceVersion != nil
}

// desired returns the object of the operation without fields that only the API server writes. A kind without status subresource stores the
// status with the rest of a new object.
func (c *call) desired() *unstructured.Unstructured {
	desired := c.object.DeepCopy()
	if status, ok := desired.Object["status"]; ok && (c.kind.status != nil || c.op.Type == TypeCreateOrUpdate) {
		if !isEmpty(status) {
			c.result.Warnings = append(c.result.Warnings, "status is not written: use a patch with StatusPatch")
		}
		delete(desired.Object, "status")
	}
	encodeStringData(desired)
	if metadata, ok := desired.Object["metadata"].(map[string]any); ok {
		for _, field := range []string{
			"managedFields", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink",
			"uid", "resourceVersion",
		} {
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
	c.settle(created, desired)
	return nil
}

// settle remembers that the API server accepted the desired state, and warns about fields that it dropped.
func (c *call) settle(live, desired *unstructured.Unstructured) {
	if !c.options.DryRun { // which has not changed the state that the key names
		c.settled.Add(c.settledKey(live, desired), nil)
	}
	if paths := missing(desired.Object, live.Object, ""); len(paths) > 0 {
		c.result.Warnings = append(c.result.Warnings, "the API server dropped the fields "+strings.Join(paths, ", "))
	}
}

func (c *call) update(ctx context.Context, live, desired *unstructured.Unstructured) error {
	if _, ok := c.settled.Get(c.settledKey(live, desired)); ok {
		c.result.Outcome = Unchanged
		return nil
	}
	var after *unstructured.Unstructured
	if c.op.Strategy == Apply {
		var err error
		if after, err = c.apply(ctx, live, desired); err != nil {
			return err
		}
	} else {
		patch := mergePatch(live.Object, withUnions(live, desired).Object, false)
		if patch == nil {
			c.result.Outcome = Unchanged
			return nil
		}
		var err error
		if after, err = c.patchFields(ctx, live, patch); err != nil {
			return err
		}
	}
	c.updated(live, after)
	c.settle(after, desired)
	return nil
}

// withUnions returns the desired state with the finalizers and owner references of live, which a merge patch would replace.
func withUnions(live, desired *unstructured.Unstructured) *unstructured.Unstructured {
	united := desired.DeepCopy()
	if wanted := desired.GetFinalizers(); wanted != nil {
		all := live.GetFinalizers()
		for _, finalizer := range wanted {
			if !slices.Contains(all, finalizer) {
				all = append(all, finalizer)
			}
		}
		united.SetFinalizers(all)
	}
	if wanted := desired.GetOwnerReferences(); wanted != nil {
		all := live.GetOwnerReferences()
		for _, owner := range wanted {
			same := func(other metav1.OwnerReference) bool { return other.UID == owner.UID }
			if i := slices.IndexFunc(all, same); i >= 0 {
				all[i] = owner
			} else {
				all = append(all, owner)
			}
		}
		united.SetOwnerReferences(all)
	}
	return united
}

// checkPreconditions rejects another object than that of the caller, or another state.
func checkPreconditions(live *unstructured.Unstructured, preconditions metav1.Preconditions) error {
	if uid := preconditions.UID; uid != nil && *uid != live.GetUID() {
		return Precondition.errorf("the object has UID %s, not %s: it was created again", live.GetUID(), *uid)
	}
	if version := preconditions.ResourceVersion; version != nil && *version != live.GetResourceVersion() {
		return Conflict.errorf("the object has resourceVersion %s, not %s: it has changed", live.GetResourceVersion(), *version)
	}
	return nil
}

func (c *call) checkOwner(live *unstructured.Unstructured) error {
	if c.op.OwnedBy == "" {
		return nil
	}
	if owner := metav1.GetControllerOfNoCopy(live); owner != nil && owner.UID != c.op.OwnedBy {
		return OwnershipConflict.errorf("the object is controlled by %s %s", owner.Kind, owner.Name)
	}
	return nil
}

func (c *call) createNew(ctx context.Context) error {
	desired := c.desired()
	return c.retry(ctx, func() error { return c.create(ctx, desired) })
}

func (c *call) createIfNotExists(ctx context.Context) error {
	desired := c.desired()
	return c.retry(ctx, func() error {
		live, err := c.get(ctx)
		switch {
		case ClassOf(err) == NotFound:
			return c.create(ctx, desired)
		case err != nil:
			return err
		case live.GetDeletionTimestamp() != nil:
			return terminating(live)
		}
		c.result.Outcome = Unchanged
		return nil
	}, AlreadyExists, Uncertain)
}

func terminating(live *unstructured.Unstructured) error {
	return Terminating.errorf("the object is being deleted: %s", waitsFor(live))
}

// holdsData are kinds that are never deleted to change a field.
var holdsData = map[string]bool{"PersistentVolumeClaim": true, "Namespace": true, "CustomResourceDefinition.apiextensions.k8s.io": true}

// recreate deletes an object because of a field that cannot be changed, which immutable names, and creates it again.
func (c *call) recreate(ctx context.Context, live, desired *unstructured.Unstructured, immutable error) error {
	if holdsData[c.kind.GroupKind().String()] {
		return fmt.Errorf("a %s is not recreated, since its data would be lost: %w", c.kind.Kind, immutable)
	}
	// The dry run of the API server validates an object before it finds that one exists.
	dry := *c.Client
	dry.options.DryRun = true
	trial := &call{Client: &dry, op: c.op, kind: c.kind, objects: c.objects}
	if _, err := trial.post(ctx, &unstructured.Unstructured{Object: withoutNulls(desired.Object)}); err != nil && ClassOf(err) != AlreadyExists {
		return fmt.Errorf("the object is not recreated, since it could not be created: %w", err)
	}
	uid, version := live.GetUID(), live.GetResourceVersion()
	err := c.delete(ctx, metav1.DeletePropagationBackground, metav1.Preconditions{UID: &uid, ResourceVersion: &version})
	switch {
	case ClassOf(err) == Precondition:
		return Conflict.of(err)
	case err != nil && !apierrors.IsNotFound(err):
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
