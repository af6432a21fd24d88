/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kinds

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/pkg/informers"
)

// byGroupKind is the name of the index that finds a CRD by the group and kind that it defines.
const byGroupKind = "groupKind"

func groupKinds(obj any) ([]string, error) {
	if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		return []string{GroupKindOf(crd).String()}, nil
	}
	return nil, nil
}

// GroupKindOf is the kind that a CRD defines, at all of its versions.
func GroupKindOf(crd *apiextensionsv1.CustomResourceDefinition) schema.GroupKind {
	return schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
}

// DropSchemas is a cache.TransformFunc for CRDs, whose schemas and managed fields are nearly all of their size. It must
// not be set in a process that writes CRDs as its cache has them, as the conversion webhook of knative.dev/pkg does: what
// is written would have no schemas.
func DropSchemas(obj any) (any, error) {
	if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Schema = nil
		}
	}
	return informers.DropManagedFields(obj)
}

func servesVersion(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.Contains(servedVersions(crd), version)
}

func servedVersions(crd *apiextensionsv1.CustomResourceDefinition) []string {
	var versions []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			versions = append(versions, v.Name)
		}
	}
	return versions
}
