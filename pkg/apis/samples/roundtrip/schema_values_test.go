/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	// usualElements is the maximum number of elements or keys where the schema would allow more.
	usualElements = 3
	// attempts is the maximum number of attempts for a value that may be invalid, or not unique.
	attempts = 1000
)

// schemaValues makes random JSON that is valid against a structural schema. It rejects schemas with anyOf and the like, and ignores rules in CEL:
// values may break them.
type schemaValues struct{ random *rand.Rand }

// newSchemaValues returns a generator whose values depend only on the source and the schemas.
func newSchemaValues(source rand.Source) *schemaValues {
	return &schemaValues{random: rand.New(source)}
}

// of makes a value for a schema: as encoding/json decodes it, except for integers, which are int64. Optional fields are sometimes left out. An
// error names the place in the schema that is not supported.
func (g *schemaValues) of(schema *apiextensionsv1.JSONSchemaProps) (any, error) {
	return g.value(schema, "schema")
}

func (g *schemaValues) value(schema *apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	if schema.OneOf != nil || schema.AnyOf != nil || schema.AllOf != nil || schema.Not != nil || schema.XIntOrString || schema.Ref != nil {
		return nil, fmt.Errorf("%s: oneOf, anyOf, allOf, not, $ref and x-kubernetes-int-or-string are not supported", path)
	}
	if len(schema.Enum) > 0 {
		var value any
		if err := json.Unmarshal(schema.Enum[g.random.Intn(len(schema.Enum))].Raw, &value); err != nil {
			return nil, fmt.Errorf("%s: reading a value of the enum: %w", path, err)
		}
		return value, nil
	}
	switch schema.Type {
	case "object":
		return g.object(schema, path)
	case "array":
		return g.array(schema, path)
	case "string":
		return g.text(schema, path)
	case "integer":
		return g.integer(schema, path)
	case "boolean":
		return g.random.Intn(2) == 0, nil
	default:
		return nil, fmt.Errorf("%s: type %q is not supported; known are object, array, string, integer and boolean", path, schema.Type)
	}
}

func (g *schemaValues) object(schema *apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	object := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if !slices.Contains(schema.Required, name) && g.random.Intn(3) == 0 {
			continue
		}
		property := schema.Properties[name]
		value, err := g.value(&property, path+"."+name)
		if err != nil {
			return nil, err
		}
		object[name] = value
	}
	if schema.AdditionalProperties == nil || schema.AdditionalProperties.Schema == nil {
		return object, nil
	}
	for range g.number(schema.MinProperties, schema.MaxProperties) {
		value, err := g.value(schema.AdditionalProperties.Schema, path+"[]")
		if err != nil {
			return nil, err
		}
		object[g.anyText(usualElements)] = value
	}
	return object, nil
}

func (g *schemaValues) array(schema *apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	if schema.Items == nil || schema.Items.Schema == nil {
		return nil, fmt.Errorf("%s: an array without items is not supported", path)
	}
	list, seen := []any{}, make(map[string]bool)
	want := g.number(schema.MinItems, schema.MaxItems)
	for range attempts {
		if len(list) == want {
			return list, nil
		}
		value, err := g.value(schema.Items.Schema, path+"[]")
		if err != nil {
			return nil, err
		}
		if key := keyOf(schema, value, len(list)); !seen[key] {
			seen[key] = true
			list = append(list, value)
		}
	}
	return list, nil
}

// keyOf returns the unique key of an element of a list.
func keyOf(schema *apiextensionsv1.JSONSchemaProps, value any, index int) string {
	switch object, isObject := value.(map[string]any); {
	case schema.XListType != nil && *schema.XListType == "map" && isObject:
		parts := make([]any, len(schema.XListMapKeys))
		for i, name := range schema.XListMapKeys {
			parts[i] = object[name]
		}
		return fmt.Sprint(parts...)
	case schema.XListType != nil && *schema.XListType == "set":
		return fmt.Sprint(value)
	default:
		return strconv.Itoa(index)
	}
}

// number returns a random number of elements.
func (g *schemaValues) number(least, most *int64) int {
	low, high := 0, usualElements
	if least != nil {
		low = int(*least)
		high = max(high, low)
	}
	if most != nil {
		high = min(high, int(*most))
	}
	return low + g.random.Intn(high-low+1)
}

func (g *schemaValues) integer(schema *apiextensionsv1.JSONSchemaProps, path string) (any, error) {
	if schema.MultipleOf != nil || schema.ExclusiveMinimum || schema.ExclusiveMaximum {
		return nil, fmt.Errorf("%s: multipleOf, exclusiveMinimum and exclusiveMaximum are not supported", path)
	}
	bits := 64
	if schema.Format == "int32" {
		bits = 32
	}
	low, high := -1<<(bits-1), 1<<(bits-1)-1
	if schema.Minimum != nil {
		low = int(*schema.Minimum)
	}
	if schema.Maximum != nil {
		high = int(*schema.Maximum)
	}
	// Mistakes are made at the ends, and with what is small.
	usual := []int{low, high, min(max(low, g.random.Intn(100)), high), g.random.Int() >> (64 - bits)}
	return int64(min(max(low, usual[g.random.Intn(len(usual))]), high)), nil
}
