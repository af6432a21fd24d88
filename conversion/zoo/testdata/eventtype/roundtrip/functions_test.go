/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"sigs.k8s.io/randfill"

	"example.com/eventtype/v1beta3"
)

// Random names would hardly ever be those of the attributes for which older versions have fields.
func init() {
	conversionFunctions = append(conversionFunctions, func(attribute *v1beta3.EventAttributeDefinition, c randfill.Continue) {
		c.FillNoCustom(attribute)
		if names := []string{"type", "source", "schemadata", attribute.Name}; c.Bool() {
			attribute.Name = names[c.Intn(len(names))]
		}
	})
}
