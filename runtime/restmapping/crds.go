/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restmapping

import (
	"slices"
	"strings"

	apiextensionshelpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// byGroupKind is the index of CRDs by the kind that they define.
const byGroupKind = "groupKind"

func groupKinds(obj any) ([]string, error) {
	return []string{GroupKindOf(obj.(*apiextensionsv1.CustomResourceDefinition)).String()}, nil //nolint:forcetypeassert // the cache is of CRDs
}

// GroupKindOf is the kind that a CRD defines, at all of its versions.
func GroupKindOf(crd *apiextensionsv1.CustomResourceDefinition) schema.GroupKind {
	return schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
}

// TrimExcept returns a cache.TransformFunc that trims all CRDs but those with these names: a process that updates a CRD from its cache, as
// the conversion webhook of knative.dev/pkg does, would otherwise remove its schema.
func TrimExcept(names ...string) cache.TransformFunc {
	return func(obj any) (any, error) {
		if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok && slices.Contains(names, crd.Name) {
			return obj, nil
		}
		return Trim(obj)
	}
}

// Trim is a cache.TransformFunc for CRDs that keeps the fields that a [Mapper] and its callers read, about a kilobyte of each CRD, so that
// memory does not depend on the schemas of other operators.
func Trim(obj any) (any, error) {
	crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
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

// fromCRDs returns the resource of a kind that its CRDs serve. The API server establishes only one of them.
func fromCRDs(crds []any, gvk schema.GroupVersionKind) (Served, error) {
	established := slices.IndexFunc(crds, func(obj any) bool {
		crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
		return ok && apiextensionshelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
	})
	crd := crds[max(established, 0)].(*apiextensionsv1.CustomResourceDefinition) //nolint:forcetypeassert // groupKinds indexes nothing else
	versions := servedVersions(crd)
	switch {
	case !slices.Contains(versions, gvk.Version):
		return Served{}, &NotServedError{Kind: gvk, Versions: versions, Detail: "; its CRD serves " + strings.Join(versions, ", ")}
	case established < 0:
		return Served{}, &NotServedError{Kind: gvk, Detail: " yet; its CRD is not established"}
	default:
		return Served{
			Resource:   gvk.GroupVersion().WithResource(crd.Spec.Names.Plural),
			Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
			Labels:     crd.Labels,
		}, nil
	}
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
