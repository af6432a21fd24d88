/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

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
	options := metav1.ApplyOptions{FieldManager: c.options.FieldManager, DryRun: c.dryRun()}
	for {
		applied, err := c.request(ctx, http.MethodPatch, object.Object, func(ctx context.Context) (*unstructured.Unstructured, error) {
			return c.objects.Apply(ctx, c.op.Name, object, options)
		})
		switch {
		// A dry run stores no upgrade, so that the fields still belong to the client's writes without apply.
		case c.options.DryRun && upgrade != nil && !options.Force && c.conflictsWithItself(err):
			options.Force = true
		case err != nil:
			return nil, fmt.Errorf("applying the object: %w", err)
		default:
			c.result.Object = applied
			return applied, nil
		}
	}
}

// conflictsWithItself reports whether all fields because of which the API server rejects an apply belong to the client's own field manager.
func (c *call) conflictsWithItself(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if ClassOf(err) != OwnershipConflict || !ok || status.ErrStatus.Details == nil {
		return false
	}
	own := fmt.Sprintf("conflict with %q using ", c.options.FieldManager)
	return !slices.ContainsFunc(status.ErrStatus.Details.Causes, func(cause metav1.StatusCause) bool { return !strings.HasPrefix(cause.Message, own) })
}
