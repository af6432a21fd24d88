/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/pager"
)

// clean takes out of every object's managedFields what the plan does not keep. It reads and writes metadata only.
func (r *run) clean(ctx context.Context) error {
	r.tally.begin("Cleaning managedFields")
	client := r.migrator.Metadata.Resource(r.plan.storage)
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		var list *metav1.PartialObjectMetadataList
		err := r.try(ctx, "listing objects", func(ctx context.Context) (err error) {
			list, err = client.List(ctx, options)
			return err //nolint:wrapcheck // try does
		})
		if err != nil {
			return nil, err
		}
		r.tally.page(len(list.Items), list.RemainingItemCount)
		return list, nil
	})
	err := pages.EachListItem(ctx, metav1.ListOptions{}, func(item runtime.Object) error {
		object, ok := item.(*metav1.PartialObjectMetadata)
		if !ok {
			return fmt.Errorf("a list of metadata holds a %T", item)
		}
		wrote, err := r.cleanObject(ctx, client.Namespace(object.Namespace), object)
		counter := (*int)(nil)
		if wrote {
			counter = &r.tally.cleaned
		}
		return r.tally.note(types.NamespacedName{Namespace: object.Namespace, Name: object.Name}, counter, err)
	})
	if err != nil {
		return fmt.Errorf("cleaning managedFields: %w", err)
	}
	return nil
}

// cleanObject cleans one object and says whether it had to. After a failed try the object is read anew, since it may have
// changed, or be clean by now.
func (r *run) cleanObject(ctx context.Context, client metadata.ResourceInterface, object *metav1.PartialObjectMetadata) (wrote bool, err error) {
	name, stale := object.Name, false
	err = r.try(ctx, "cleaning its managedFields", func(ctx context.Context) error {
		if stale {
			read, err := client.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err //nolint:wrapcheck // try does
			}
			object = read
		}
		patch, err := r.plan.cleaning(object)
		if err != nil || patch == nil {
			return err
		}
		stale = true
		if _, err := client.Patch(ctx, name, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
			return err //nolint:wrapcheck // try does
		}
		wrote = true
		return nil
	})
	return wrote, err
}
