/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// Import paths of the packages whose types our kinds embed or refer to.
const (
	metav1Path  = "k8s.io/apimachinery/pkg/apis/meta/v1"
	apisPath    = "knative.dev/pkg/apis"
	duckv1Path  = "knative.dev/pkg/apis/duck/v1"
	trackerPath = "knative.dev/pkg/tracker"
)

// foreign is the schema of a type that another module declares.
func foreign(t *testing.T, path, name string) schema {
	t.Helper()
	schemas, err := foreignSchemas()
	if err != nil {
		t.Fatal(err)
	}
	s, ok := schemas[path][name]
	if !ok {
		t.Fatalf("foreign.yaml has no schema of %s.%s", path, name)
	}
	return s
}

// withDescription describes a field of the schema's type.
func withDescription(s schema, description string) schema {
	s.Description = description
	return s
}

// A field that upstream adds must not be pruned from our objects because nobody noticed.
func TestForeignSchemasHaveTheFieldsOfTheirTypes(t *testing.T) {
	for _, test := range []struct {
		schema schema
		value  any
	}{
		{foreign(t, metav1Path, "TypeMeta"), metav1.TypeMeta{}},
		{foreign(t, apisPath, "Condition"), apis.Condition{}},
		{foreign(t, duckv1Path, "Status"), duckv1.Status{}},
		{foreign(t, duckv1Path, "Addressable"), duckv1.Addressable{}},
		{foreign(t, duckv1Path, "AddressStatus"), duckv1.AddressStatus{}},
		{foreign(t, duckv1Path, "KReference"), duckv1.KReference{}},
	} {
		typ := reflect.TypeOf(test.value)
		t.Run(typ.String(), func(t *testing.T) {
			var fields []string
			for field := range typ.Fields() {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				fields = append(fields, name)
			}
			slices.Sort(fields)
			if diff := cmp.Diff(fields, sortedKeys(test.schema.Properties)); diff != "" {
				t.Error("fields differ from the Go type's (-type +schema):", diff)
			}
		})
	}
}

func TestForeignSchemasAreBounded(t *testing.T) {
	schemas, err := foreignSchemas()
	if err != nil {
		t.Fatal(err)
	}
	for path, types := range schemas {
		for name, s := range types {
			if name == "TypeMeta" {
				continue // The API server checks these two before the schema.
			}
			expectBounds(t, path+"."+name, &s)
		}
	}
}

func expectBounds(t *testing.T, path string, s *schema) {
	t.Helper()
	switch s.Type {
	case "string":
		if s.MaxLength == nil && len(s.Enum) == 0 && s.Format != "date-time" {
			t.Errorf("%s is a string of any length", path)
		}
	case "array":
		if s.MaxItems == nil {
			t.Errorf("%s is an array of any length", path)
		}
		expectBounds(t, path+"[]", s.Items.Schema)
	case "object":
		for name, property := range s.Properties {
			expectBounds(t, path+"."+name, &property)
		}
		if s.AdditionalProperties == nil {
			break
		}
		if s.MaxProperties == nil {
			t.Errorf("%s is a map of any size", path)
		}
		expectBounds(t, path+"{}", s.AdditionalProperties.Schema)
	}
}
