/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestFaultsOf_NamesEveryField(t *testing.T) {
	text := schema{Type: "string", MaxLength: new(int64(63)), Description: "A text."}
	same := schema{Type: "object", Description: "A pair.", Properties: map[string]schema{"key": text}}
	other := schema{Type: "object", Description: "Another pair.", Properties: map[string]schema{"key": text}}
	got := faultsOf("Goose.v1", &schema{Type: "object", Properties: map[string]schema{
		"metadata":   {Type: "object"},
		"name":       {Type: "string", Description: "A name."},
		"kind":       {Type: "string", Description: "The kind."},
		"color":      {Type: "string", Description: "A color.", Enum: []apiextensionsv1.JSON{{Raw: []byte(`"gray"`)}}},
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
