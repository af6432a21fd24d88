/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// countUnits handles durations that are whole numbers of a unit in the other version.
func countUnits(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	rule := ToDuration
	switch {
	case isInteger(older) && isDuration(newer):
	case isDuration(older) && isInteger(newer):
		rule = FromDuration
	default:
		return nil, ""
	}
	if c.unit == "" {
		return nil, "a duration and a number need a unit, such as +conversion:unit=seconds"
	}
	c.unitUsed = true
	return &Conversion{Rule: rule, Older: older, Newer: newer, Unit: c.unit}, ""
}

func isDuration(t *model.Type) bool {
	return t.Kind == model.Named && t.Package == metaPackage && t.Name == "Duration"
}

func isInteger(t *model.Type) bool {
	return t.Kind == model.Basic && (slices.Contains(numbers[signed], t.Name) || slices.Contains(numbers[unsigned], t.Name))
}
