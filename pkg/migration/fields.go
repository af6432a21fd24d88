/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clean returns the entries of managedFields that stay, and whether that is less than there was. The fields of a removed entry have no owner until
// the manager applies again.
//
// It never returns an empty list for one that was not: the API server takes that for a client that does not know the field, and keeps what
// it had. The API server also treats an object without entries as one from before server-side apply: at the next apply, all of its fields
// get an owner that never releases them. So one entry is kept, for a manager that had one, which owns only metadata.name, a field that is
// never removed; the next write of that manager replaces the entry. kubernetes-sigs/cluster-api's crdmigrator does the same.
func (p plan) clean(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool) {
	var kept, dropped []metav1.ManagedFieldsEntry
	for i := range entries {
		if p.keep.Has(entries[i].APIVersion) {
			kept = append(kept, entries[i])
		} else {
			dropped = append(dropped, entries[i])
		}
	}
	if len(dropped) == 0 {
		return entries, false
	}
	if len(kept) == 0 {
		// A manager that applies is more likely to return, and with the same version for all fields.
		seed := &dropped[max(0, slices.IndexFunc(dropped, func(e metav1.ManagedFieldsEntry) bool {
			return e.Operation == metav1.ManagedFieldsOperationApply
		}))]
		kept = append(kept, metav1.ManagedFieldsEntry{
			Manager: seed.Manager, Operation: seed.Operation, Subresource: seed.Subresource, Time: seed.Time,
			APIVersion: p.storage.GroupVersion().String(),
			FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:name":{}}}`)},
		})
	}
	return kept, true
}

// cleaning is the JSON patch that cleans an object's managedFields, or nil if there is nothing to clean. The API server
// answers it with a conflict if the object has changed since it was read.
func (p plan) cleaning(object *metav1.PartialObjectMetadata) ([]byte, error) {
	kept, changed := p.clean(object.ManagedFields)
	if !changed {
		return nil, nil
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": kept},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": object.ResourceVersion},
	})
	if err != nil {
		return nil, fmt.Errorf("writing a patch of managedFields: %w", err)
	}
	return patch, nil
}
