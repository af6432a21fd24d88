/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// maxAnnotations is the length of all annotations of an object. kubectl apply stores the manifest in one of them, so that a longer CRD
// cannot be applied from the client's side.
const maxAnnotations = 256 << 10

// check returns the faults of a CRD: fields without a description, with which kubectl explain describes a kind, and fields without a bound, with
// which an object could reach the limit of etcd.
func check(crd *apiextensionsv1.CustomResourceDefinition) (faults []string) {
	for _, version := range crd.Spec.Versions {
		faults = append(faults, faultsOf(crd.Spec.Names.Kind+"."+version.Name, version.Schema.OpenAPIV3Schema)...)
	}
	return faults
}

type schema = apiextensionsv1.JSONSchemaProps

// faultsOf names what is missing in the schema of a kind, and every pair of fields that share a description without being fields of the same
// type, as after a copy that was not adapted.
func faultsOf(name string, root *schema) []string {
	type place struct {
		path     string
		siblings map[string]schema
	}
	described := map[string]place{}
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var visit func(path string, s *schema)
	visit = func(path string, s *schema) {
		switch {
		case path == name+".apiVersion" || path == name+".kind":
			return // The API server checks these two before the schema.
		case s.Type == "string" && s.MaxLength == nil && len(s.Enum) == 0:
			add("%s is a string of any length: set MaxLength or Enum", path)
		case s.Items != nil && s.MaxItems == nil:
			add("%s is an array of any length: set MaxItems", path)
		case s.AdditionalProperties != nil && s.MaxProperties == nil:
			add("%s is a map of any size: set MaxProperties", path)
		}
		if s.Items != nil {
			visit(path+"[]", s.Items.Schema)
		}
		if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
			visit(path+"{}", s.AdditionalProperties.Schema)
		}
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			property, at := s.Properties[field], path+"."+field
			if at == name+".metadata" {
				continue // The API server describes it.
			}
			other, found := described[property.Description]
			switch {
			case property.Description == "":
				add("%s has no description: write a comment above the field", at)
			case found && !reflect.DeepEqual(other.siblings, s.Properties):
				add("%s and %s have the same description, %q: describe each of them", other.path, at, property.Description)
			case !found:
				described[property.Description] = place{path: at, siblings: s.Properties}
			}
			visit(at, &property)
		}
	}
	if root.Description == "" {
		add("%s has no description: write a comment above its type", name)
	}
	visit(name, root)
	return faults
}
