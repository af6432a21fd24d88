/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"sigs.k8s.io/randfill"

	v1 "example.com/customresourcedefinition/v1"
	"example.com/customresourcedefinition/v1beta1"
)

// Random schemas would be too large for the annotation.
func init() {
	conversionFunctions = append(conversionFunctions,
		func(schema *v1beta1.JSONSchemaProps, c randfill.Continue) {
			c.FillNoCustom(schema)
			if c.Intn(8) > 0 {
				schema.AllOf, schema.OneOf, schema.AnyOf, schema.Not = nil, nil, nil, nil
			}
			if c.Intn(8) > 0 {
				schema.Properties, schema.PatternProperties, schema.Definitions, schema.Dependencies = nil, nil, nil, nil
			}
			if c.Intn(8) > 0 {
				schema.Items, schema.AdditionalItems, schema.AdditionalProperties = nil, nil, nil
			}
		},
		func(schema *v1.JSONSchemaProps, c randfill.Continue) {
			c.FillNoCustom(schema)
			if c.Intn(8) > 0 {
				schema.AllOf, schema.OneOf, schema.AnyOf, schema.Not = nil, nil, nil, nil
			}
			if c.Intn(8) > 0 {
				schema.Properties, schema.PatternProperties, schema.Definitions, schema.Dependencies = nil, nil, nil, nil
			}
			if c.Intn(8) > 0 {
				schema.Items, schema.AdditionalItems, schema.AdditionalProperties = nil, nil, nil
			}
		},
	)
}
