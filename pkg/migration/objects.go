/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

// pageSize bounds the memory and the time that a list takes.
const pageSize = 500

// writeAll writes every object once that has to be cleaned or moved. It reads and sends metadata only.
func (r *run) writeAll(ctx context.Context) error {
	client := r.migrator.Metadata.Resource(r.plan.storage)
	options := metav1.ListOptions{Limit: pageSize}
	for {
		list, err := r.page(ctx, client, options)
		if err != nil {
			return err
		}
		r.tally.page(len(list.Items), list.RemainingItemCount)
		for i := range list.Items {
			object := &list.Items[i]
			cleaned, wrote, err := r.write(ctx, client.Namespace(object.Namespace), object)
			name := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
			if err := r.tally.note(name, cleaned, wrote, err); err != nil {
				return err
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return nil
		}
	}
}

// page lists some objects. Writing the previous page may have taken longer than etcd keeps the revision that the continue
// token refers to. The API server then sends another token with its error, which continues at the present revision.
// Nothing is missed: the objects that this list may lack were created since, hence at the storage version.
func (r *run) page(ctx context.Context, client metadata.Getter, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	var list *metav1.PartialObjectMetadataList
	err := r.try(ctx, "listing objects", func(ctx context.Context) (err error) {
		list, err = client.List(ctx, options)
		status := apierrors.APIStatus(nil)
		if !errors.As(err, &status) || !apierrors.IsResourceExpired(err) || status.Status().Continue == "" {
			return err //nolint:wrapcheck // try does
		}
		r.log.Infow("The list has expired and is continued", "done", r.tally.seen)
		options.Continue = status.Status().Continue
		list, err = client.List(ctx, options)
		return err //nolint:wrapcheck // try does
	})
	return list, err
}

// write cleans an object's managedFields, or else patches it with nothing if it may be stored at another version: either
// has the API server store it at the storage version. After a failed cleaning the object is read again, since it may have
// changed, or may be clean by now.
func (r *run) write(ctx context.Context, client metadata.ResourceInterface, object *metav1.PartialObjectMetadata) (cleaned, wrote bool, err error) {
	name, stale := object.Name, false
	err = r.try(ctx, "writing it", func(ctx context.Context) error {
		if stale {
			read, err := client.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err //nolint:wrapcheck // try does
			}
			object = read
		}
		kind := types.JSONPatchType
		patch, err := r.plan.cleaning(object)
		switch {
		case err != nil:
			return err
		case patch == nil && !r.tally.moves:
			return nil
		case patch == nil:
			kind, patch = types.MergePatchType, []byte(`{}`)
		}
		stale = kind == types.JSONPatchType
		if _, err := client.Patch(ctx, name, kind, patch, metav1.PatchOptions{}); err != nil {
			return err //nolint:wrapcheck // try does
		}
		cleaned, wrote = kind == types.JSONPatchType, true
		return nil
	})
	return cleaned, wrote, err
}
