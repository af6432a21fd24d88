/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// field is a property somewhere in the schema of a version.
type field struct {
	path        string
	description string
	// siblings are the properties of the object that the field is part of.
	siblings properties
}

// check reports what makes a CRD hard to use with kubectl explain: a field that says nothing of itself, and a text that
// stands at two fields, which is as a rule a copy that nobody adapted. It reports every such field.
func check(crd *apiextensionsv1.CustomResourceDefinition) error {
	errs := make([]error, 0, len(crd.Spec.Versions))
	for _, version := range crd.Spec.Versions {
		errs = append(errs, checkVersion(crd.Spec.Names.Kind+"."+version.Name, version.Schema.OpenAPIV3Schema))
	}
	return errors.Join(errs...)
}

func checkVersion(name string, root *schema) error {
	var errs []error
	if root.Description == "" {
		errs = append(errs, fmt.Errorf("%s has no description: write a comment above its type", name))
	}
	seen := make(map[string]field)
	for _, f := range fieldsOf(name, root, nil) {
		if f.path == name+".metadata" {
			continue // The API server describes it, and accepts no description here.
		}
		if f.description == "" {
			errs = append(errs, fmt.Errorf("%s has no description: write a comment above the field", f.path))
			continue
		}
		other, found := seen[f.description]
		if !found {
			seen[f.description] = f
			continue
		}
		// One type may be used at two places; its fields then say the same at both.
		if !reflect.DeepEqual(other.siblings, f.siblings) {
			errs = append(errs, fmt.Errorf("%s and %s have one and the same description, %q: say what each of them is",
				other.path, f.path, f.description))
		}
	}
	return errors.Join(errs...)
}

// fieldsOf returns the fields below an object, an array's items or a map's values in a stable order.
func fieldsOf(path string, s *schema, fields []field) []field {
	for _, name := range sortedKeys(s.Properties) {
		property := s.Properties[name]
		at := path + "." + name
		fields = append(fields, field{path: at, description: property.Description, siblings: s.Properties})
		fields = fieldsOf(at, &property, fields)
	}
	if s.Items != nil && s.Items.Schema != nil {
		fields = fieldsOf(path+"[]", s.Items.Schema, fields)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		fields = fieldsOf(path+"{}", s.AdditionalProperties.Schema, fields)
	}
	return fields
}

func sortedKeys(m properties) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	return sorted(keys)
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
