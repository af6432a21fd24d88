/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

const everything = `
type: object
required: [name, list]
properties:
  name: {type: string, pattern: '^[a-z]([-a-z0-9]{0,61}[a-z0-9])?(\.(x|yz))+$', maxLength: 20, minLength: 3}
  mode: {type: string, enum: ["", a, b]}
  free: {type: string, maxLength: 5, minLength: 1}
  time: {type: string, format: date-time, pattern: '^[1-9].*Z$'}
  url: {type: string, format: uri, maxLength: 30}
  port: {type: integer, format: int32, minimum: 1, maximum: 65535}
  any: {type: integer, format: int64}
  flag: {type: boolean}
  map: {type: object, additionalProperties: {type: string, maxLength: 2}, maxProperties: 2}
  list: {type: array, minItems: 1, maxItems: 2, items: {type: object, required: [key], properties: {key: {type: string, enum: [a, b]}}},
    x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [key]}
  set: {type: array, items: {type: string, enum: [a, b, c]}, x-kubernetes-list-type: set}
  plain: {type: array, items: {type: integer}}
`

func schemaOf(t *testing.T, text string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	var schema apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	return &schema
}

// Values are valid, and each optional field is sometimes set, and sometimes not.
func TestValues_Random_AreValid(t *testing.T) {
	schema := schemaOf(t, everything)
	validate, err := validator(schema)
	if err != nil {
		t.Fatal(err)
	}
	generator, count := newSchemaValues(testrand.Source(t)), make(map[string]int)
	const values = 500
	for range values {
		value, err := generator.of(schema)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(value); err != nil {
			t.Fatalf("%v: %v", value, err)
		}
		for name := range value.(map[string]any) {
			count[name]++
		}
	}
	for name := range schema.Properties {
		required := name == "name" || name == "list"
		if got := count[name]; got == 0 || (got == values) != required {
			t.Errorf("%s is set in %d of %d values", name, got, values)
		}
	}
}

func TestValues_ListElements_AreUnique(t *testing.T) {
	generator := newSchemaValues(testrand.Source(t))
	for _, text := range []string{
		`{type: array, minItems: 2, maxItems: 2, items: {type: string, enum: [a, b]}, x-kubernetes-list-type: set}`,
		`{type: array, minItems: 2, maxItems: 2, items: {type: object, required: [k], properties: {k: {type: string, enum: [a, b]}}},
			x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}`,
	} {
		for range 20 {
			value, err := generator.of(schemaOf(t, text))
			if err != nil {
				t.Fatal(err)
			}
			if list := value.([]any); len(list) != 2 || jsonOf(t, list[0]) == jsonOf(t, list[1]) {
				t.Errorf("got %v", list)
			}
		}
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestValues_UnsupportedSchema_IsNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{type: object, required: [a], properties: {a: {type: number}}}`:             `schema.a: type "number" is not supported`,
		`{type: array, minItems: 1, items: {type: string, anyOf: [{minLength: 1}]}}`: `schema[]: oneOf, anyOf, allOf, not`,
		`{type: integer, multipleOf: 2}`:                                             `schema: multipleOf`,
		`{type: string, pattern: "^a$", minLength: 2}`:                               `schema: found no text that is valid`,
		`{type: array}`: `schema: an array without items`,
	} {
		if _, err := newSchemaValues(testrand.Source(t)).of(schemaOf(t, text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %s", text, err, want)
		}
	}
}
