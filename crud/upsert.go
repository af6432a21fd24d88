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
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

// settledKey names a state of an object, and a desired state that the API server does not see a difference to.
func (c *call) settledKey(live *unstructured.Unstructured) string {
	return live.GetResourceVersion() + " " + c.fightKey(live)
}

func (c *call) createOrUpdate(ctx context.Context) error {
	desired := c.desired()
	encoded, err := json.Marshal([]any{c.op.Strategy, desired.Object})
	if err != nil {
		return Malformed.errorf("encoding the desired state: %w", err)
	}
	c.hash = digest(encoded)
	return c.retry(ctx, func() error { return c.upsert(ctx, desired) })
}

// upsert is one attempt. The first one does not read the object again whose state the preflight has read: the API server rejects the write if the
// object was created or has changed since then.
func (c *call) upsert(ctx context.Context, desired *unstructured.Unstructured) error {
	switch seen := c.foreseen; {
	case c.result.Attempts > 1:
	case seen.Outcome == Created:
		err := c.create(ctx, desired)
		if class := ClassOf(err); err == nil || class != AlreadyExists && class != Terminating && !c.options.DryRun {
			return err
		}
	case seen.patch != nil && c.fightDelay(seen.Object) == 0:
		after, err := c.patch(ctx, types.MergePatchType, seen.patch)
		if err = c.stored(seen.Object, after, err); ClassOf(err) != Immutable || c.op.OnImmutable != Recreate {
			return err
		}
	}
	live, err := c.get(ctx)
	switch {
	case ClassOf(err) == NotFound && !c.hasPreconditions():
		if err := c.checkOwner(desired); err != nil {
			return err // the next run would reject what this one has created
		}
		return c.create(ctx, desired)
	case err != nil:
		return err
	}
	if err := errors.Join(checkPreconditions(live, c.op.Preconditions), c.checkOwner(live)); err != nil {
		return err
	}
	if live.GetDeletionTimestamp() != nil {
		return c.replaceTerminating(ctx, live, desired)
	}
	if c.op.Type == TypeCreateIfNotExists {
		return c.unchanged()
	}
	err = c.update(ctx, live, desired)
	if ClassOf(err) == Immutable && c.op.OnImmutable == Recreate {
		return c.recreate(ctx, live, desired, err)
	}
	return err
}

func (c *call) hasPreconditions() bool {
	return c.op.Preconditions.UID != nil || c.op.Preconditions.ResourceVersion != nil
}

// settle remembers that the API server accepted the desired state.
func (c *call) settle(live *unstructured.Unstructured) {
	// A dry run does not make the state that the key names.
	if !c.options.DryRun || c.result.Outcome == Unchanged && c.op.Strategy != Apply {
		c.settled.Add(c.settledKey(live), nil)
	}
}

func (c *call) update(ctx context.Context, live, desired *unstructured.Unstructured) error {
	if _, ok := c.settled.Get(c.settledKey(live)); ok {
		return c.unchanged()
	}
	if c.op.Strategy == Apply {
		after, err := c.apply(ctx, live, desired)
		return c.stored(live, after, err)
	}
	patch := mergePatch(live.Object, withUnions(live, desired).Object, false)
	if patch == nil {
		return c.unchanged()
	}
	hasYielded, err := c.yield(ctx, live, patch)
	switch {
	case err != nil:
		return err
	case hasYielded: // the object may have changed during the delay
		return c.upsert(ctx, desired)
	}
	after, err := c.patchFields(ctx, live, patch)
	return c.stored(live, after, err)
}

// stored decides about the answer to a write of the desired state.
func (c *call) stored(live, after *unstructured.Unstructured, err error) error {
	switch class := ClassOf(err); {
	case (class == NotFound || class == Precondition) && !c.hasPreconditions():
		return Conflict.of(err) // it was deleted concurrently, and the next attempt finds no object, or another of its name
	case err != nil:
		return err
	}
	if c.updated(live, after); c.result.Outcome == Updated && !c.options.DryRun {
		c.fights.Next(c.fightKey(live), time.Now())
	}
	c.settle(after)
	return nil
}

// withUnions returns the desired state with the finalizers and owner references of live, which a merge patch would replace.
func withUnions(live, desired *unstructured.Unstructured) *unstructured.Unstructured {
	united := desired.DeepCopy()
	if wanted := desired.GetFinalizers(); wanted != nil {
		united.SetFinalizers(union(live.GetFinalizers(), wanted, func(name string) string { return name }))
	}
	if wanted := desired.GetOwnerReferences(); wanted != nil {
		united.SetOwnerReferences(union(live.GetOwnerReferences(), wanted, func(owner metav1.OwnerReference) types.UID { return owner.UID }))
	}
	return united
}

// union adds items, which replace those with the same key.
func union[T any, K comparable](items, added []T, key func(T) K) []T {
	for _, one := range added {
		if i := slices.IndexFunc(items, func(other T) bool { return key(other) == key(one) }); i >= 0 {
			items[i] = one
		} else {
			items = append(items, one)
		}
	}
	return items
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
	switch owner := metav1.GetControllerOfNoCopy(live); {
	case owner == nil:
		return OwnershipConflict.errorf("the object has no controller in its owner references, and that of ownedBy is required")
	case owner.UID != c.op.OwnedBy:
		return OwnershipConflict.errorf("the object is controlled by %s %s", owner.Kind, owner.Name)
	}
	return nil
}

// apply changes live by server-side apply. Fields that the client wrote with the strategy Merge before, or as it created the object, are taken
// over first, because the API server would otherwise keep them when the desired state does not have them anymore. The UID and the resourceVersion
// reject another object and another state, and keep apply from creating an object that was deleted concurrently.
func (c *call) apply(ctx context.Context, live, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	upgrade, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(c.options.FieldManager), c.options.FieldManager)
	if err != nil {
		return nil, fmt.Errorf("taking over fields that were written without apply: %w", err)
	}
	if upgrade != nil && !c.options.DryRun {
		if live, err = c.patch(ctx, types.JSONPatchType, upgrade); err != nil {
			return nil, err
		}
	}
	object := &unstructured.Unstructured{Object: withoutNulls(desired.Object)}
	if !equal(object.Object, desired.Object) {
		return nil, Malformed.errorf("a field is nil: with the strategy apply, leave out fields that are removed")
	}
	object.SetUID(live.GetUID())
	object.SetResourceVersion(live.GetResourceVersion())
	return c.request(ctx, http.MethodPatch, "applying", object.Object, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return c.objects.Apply(ctx, c.op.Name, object, metav1.ApplyOptions{
			// A dry run stores no upgrade, without which the client's own earlier writes conflict. The run finds conflicts with others.
			FieldManager: c.options.FieldManager, DryRun: c.dryRun(), Force: c.options.DryRun && upgrade != nil,
		})
	})
}
