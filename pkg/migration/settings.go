/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Resources are the names of CRDs, as a setting: RESOURCE.GROUP, separated by commas.
type Resources []schema.GroupResource

// Decode implements envconfig.Decoder.
func (r *Resources) Decode(value string) error {
	*r = nil
	for name := range strings.SplitSeq(value, ",") {
		resource := schema.ParseGroupResource(strings.TrimSpace(name))
		if resource.Group == "" || len(validation.IsDNS1123Subdomain(resource.String())) > 0 {
			return errors.New("must be names of CustomResourceDefinitions, such as widgets.example.com, separated by commas")
		}
		if slices.Contains(*r, resource) {
			return fmt.Errorf("must name each CustomResourceDefinition once, and has %s twice", resource)
		}
		*r = append(*r, resource)
	}
	return nil
}

// Versions are versions of resources, as a setting: RESOURCE.GROUP/VERSION, separated by commas, or empty for none.
type Versions map[schema.GroupResource][]string

// Decode implements envconfig.Decoder.
func (v *Versions) Decode(value string) error {
	*v = Versions{}
	if strings.TrimSpace(value) == "" {
		return nil
	}
	for one := range strings.SplitSeq(value, ",") {
		name, version, _ := strings.Cut(strings.TrimSpace(one), "/")
		resource := schema.ParseGroupResource(name)
		if resource.Group == "" || len(validation.IsDNS1035Label(version)) > 0 {
			return errors.New("must be versions of resources, such as widgets.example.com/v1alpha1, separated by commas")
		}
		(*v)[resource] = append((*v)[resource], version)
	}
	return nil
}
