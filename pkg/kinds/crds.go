/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kinds

import (
	"slices"
	"strings"

	apiextensionshelpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// Indexes of CRDs by the group and kind that they define, and by the kind alone in lower case.
const (
	byGroupKind = "groupKind"
	byLowerKind = "lowerKind"
)

func groupKinds(obj any) ([]string, error) {
	if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		return []string{GroupKindOf(crd).String()}, nil
	}
	return nil, nil
}

func lowerKinds(obj any) ([]string, error) {
	if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		return []string{strings.ToLower(crd.Spec.Names.Kind)}, nil
	}
	return nil, nil
}

// definedBy returns the kinds that CRDs define, at each version that is served.
func definedBy(crds []*apiextensionsv1.CustomResourceDefinition) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, crd := range crds {
		for _, version := range servedVersions(crd) {
			kinds = append(kinds, GroupKindOf(crd).WithVersion(version))
		}
	}
	return kinds
}

// GroupKindOf is the kind that a CRD defines, at all of its versions.
func GroupKindOf(crd *apiextensionsv1.CustomResourceDefinition) schema.GroupKind {
	return schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
}

// Trim returns a cache.TransformFunc for CRDs that keeps the fields that a [Finder] and its callers read, about a kilobyte of each
// CRD, so that memory does not depend on the schemas of other operators. CRDs with the given names are kept complete: a process
// that updates a CRD from its cache, as the conversion webhook of knative.dev/pkg does, would otherwise remove its schema.
func Trim(complete ...string) cache.TransformFunc {
	return func(obj any) (any, error) {
		crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
		if !ok || slices.Contains(complete, crd.Name) {
			return obj, nil
		}
		trimmed := &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: crd.Name, UID: crd.UID, ResourceVersion: crd.ResourceVersion, Labels: crd.Labels},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group:    crd.Spec.Group,
				Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: crd.Spec.Names.Plural, Kind: crd.Spec.Names.Kind},
				Scope:    crd.Spec.Scope,
				Versions: make([]apiextensionsv1.CustomResourceDefinitionVersion, 0, len(crd.Spec.Versions)),
			},
		}
		for _, v := range crd.Spec.Versions {
			trimmed.Spec.Versions = append(trimmed.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: v.Name, Served: v.Served})
		}
		if established := apiextensionshelpers.FindCRDCondition(crd, apiextensionsv1.Established); established != nil {
			trimmed.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: established.Type, Status: established.Status}}
		}
		return trimmed, nil
	}
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
