/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

// apply changes live by server-side apply. Fields that the client wrote with the strategy Merge before are taken over first, because the API
// server would otherwise keep them when the desired state does not have them anymore. The UID keeps apply from creating an object that was deleted
// concurrently.
func (c *call) apply(ctx context.Context, live, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	upgrade, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(c.options.FieldManager), c.options.FieldManager)
	if err != nil {
		return nil, fmt.Errorf("taking over fields that were written without apply: %w", err)
	}
	if upgrade != nil {
		if _, err := c.patch(ctx, types.JSONPatchType, upgrade); err != nil {
			return nil, err
		}
	}
	object := &unstructured.Unstructured{Object: withoutNulls(desired.Object)}
	if !equal(object.Object, desired.Object) {
		return nil, Malformed.errorf("a field is nil: with the strategy apply, leave out fields that are removed")
	}
	object.SetUID(live.GetUID())
	applied, err := c.request(ctx, http.MethodPatch, object.Object, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return c.objects.Apply(ctx, c.op.Name, object, metav1.ApplyOptions{FieldManager: c.options.FieldManager, DryRun: c.dryRun()})
	})
	if err != nil {
		return nil, fmt.Errorf("applying the object: %w", written(err))
	}
	c.received(applied)
	return applied, nil
}
