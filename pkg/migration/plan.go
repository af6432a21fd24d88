/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// plan holds the requirements for the objects of a CRD, from the CRD and from the administrator who runs the migration.
type plan struct {
	// storage is the version that objects should be stored at.
	storage schema.GroupVersionResource
	// keep are the API versions, such as samples.knative.dev/v1, that managedFields may go on naming.
	keep sets.Set[string]
}

// newPlan decides from a CRD which versions stay. A version that is not served does not stay, as no client can write at it
// any more, nor does one that drop names. Errors name the version and those that there are.
func newPlan(crd *apiextensionsv1.CustomResourceDefinition, drop []string) (plan, error) {
	group := crd.Spec.Group
	p := plan{keep: sets.New[string]()}
	var known []string
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		known = append(known, v.Name)
		if v.Storage {
			p.storage = schema.GroupVersionResource{Group: group, Version: v.Name, Resource: crd.Spec.Names.Plural}
			if !v.Served {
				return p, fmt.Errorf("%s: the storage version %s is not served, so that objects can neither be listed nor written at it; serve it first",
					crd.Name, v.Name)
			}
		}
		if v.Served && !slices.Contains(drop, v.Name) {
			p.keep.Insert(schema.GroupVersion{Group: group, Version: v.Name}.String())
		}
	}
	for _, version := range drop {
		switch {
		case !slices.Contains(known, version):
			return p, fmt.Errorf("%s: there is no version %q to be dropped; there are: %s", crd.Name, version, strings.Join(known, ", "))
		case version == p.storage.Version:
			return p, fmt.Errorf("%s: version %s cannot be dropped, objects are stored at it; there are: %s", crd.Name, version, strings.Join(known, ", "))
		}
	}
	return p, nil
}
