/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// clean returns the entries of managedFields of served versions, or nil if all entries are. The fields of a removed entry have no owner until the
// manager applies again.
//
// It never returns an empty list: the API server takes that for a client that does not know the field, and keeps the old one. The API server also treats
// an object without entries as one from before server-side apply: at the next apply, all of its fields get an owner that never releases them. So
// one entry is kept, for a manager that had one, which owns only metadata.name, a field that is never removed; the next write of that manager replaces
// the entry. kubernetes-sigs/cluster-api's crdmigrator does the same.
func (r *run) clean(entries []metav1.ManagedFieldsEntry) (kept []metav1.ManagedFieldsEntry) {
	kept = slices.DeleteFunc(slices.Clone(entries), func(e metav1.ManagedFieldsEntry) bool {
		gv, err := schema.ParseGroupVersion(e.APIVersion)
		return err != nil || gv.Group != r.storage.Group || !apihelpers.HasServedCRDVersion(r.crd, gv.Version)
	})
	if len(kept) == len(entries) {
		return nil
	}
	if len(kept) == 0 {
		// A manager that applies is more likely to return, and with the same version for all fields.
		applied := func(e metav1.ManagedFieldsEntry) bool { return e.Operation == metav1.ManagedFieldsOperationApply }
		seed := entries[max(0, slices.IndexFunc(entries, applied))]
		seed.APIVersion = r.storage.GroupVersion().String()
		seed.FieldsType, seed.FieldsV1 = "FieldsV1", &metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:name":{}}}`)}
		kept = append(kept, seed)
	}
	return kept
}
