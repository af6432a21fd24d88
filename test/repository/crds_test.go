/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/test/crds"
)

// maxAnnotations is the length of all annotations of an object. kubectl apply stores the manifest in one of them, so that a longer CRD
// cannot be applied from the client's side.
const maxAnnotations = 256 << 10

// Whoever reads a kind with `kubectl explain` finds every field described, and no object can grow up to etcd's limit.
func TestCRD_EveryField_IsDescribedAndBounded(t *testing.T) {
	for _, crd := range crds.All(t) {
		for _, version := range crd.Spec.Versions {
			for _, fault := range faultsOf(crd.Spec.Names.Kind+"."+version.Name, version.Schema.OpenAPIV3Schema) {
				t.Error(fault)
			}
		}
		manifest, err := yaml.Marshal(crd)
		if err != nil || len(manifest) > maxAnnotations {
			t.Errorf("%s has %d bytes (%v), want at most %d: shorten descriptions or split the kind", crd.Name, len(manifest), err, maxAnnotations)
		}
	}
}

func TestFaultsOf_NamesEveryField(t *testing.T) {
	text := schema{Type: "string", MaxLength: new(int64(63)), Description: "A text."}
	same := schema{Type: "object", Description: "A pair.", Properties: map[string]schema{"key": text}}
	other := schema{Type: "object", Description: "Another pair.", Properties: map[string]schema{"key": text}}
	got := faultsOf("Goose.v1", &schema{Type: "object", Properties: map[string]schema{
		"metadata":   {Type: "object"},
		"name":       {Type: "string", Description: "A name."},
		"kind":       {Type: "string", Description: "The kind."},
		"color":      {Type: "string", Description: "A color.", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"grey"`)}}},
		"size":       {Type: "integer"},
		"followers":  {Type: "array", Description: "The followers.", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}},
		"labels":     {Type: "object", Description: "The labels.", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &schema{Type: "string"}}},
		"pair":       same,
		"secondPair": other,
		"text":       text,
	}})
	want := []string{
		"Goose.v1 has no description: write a comment above its type",
		"Goose.v1.followers is an array of any length: set MaxItems",
		"Goose.v1.labels is a map of any size: set MaxProperties",
		"Goose.v1.labels{} is a string of any length: set MaxLength or Enum",
		"Goose.v1.name is a string of any length: set MaxLength or Enum",
		"Goose.v1.size has no description: write a comment above the field",
		`Goose.v1.pair.key and Goose.v1.text have the same description, "A text.": describe each of them`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
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
