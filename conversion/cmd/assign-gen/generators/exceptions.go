/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// exceptions are the fields of a version, as tests name them, that conversions drop, that hooks fill even if there is no value, and that are never null.
func exceptions(all *plan.Plan, version *plan.Version) string {
	dropped, text := all.Dropped(), ""
	add := func(name string, fields []string) {
		if fields != nil {
			text += fmt.Sprintf(", %s: []string{%s}", name, strings.Join(fields, ", "))
		}
	}
	add("Dropped", fieldNames(version, func(field *plan.Field) bool { return dropped[field] }))
	add("Fixed", fixedIn(all, version))
	add("NeverNull", fieldNames(version, (*plan.Field).IsNeverNull))
	return text
}

// fixedIn are the fields of a version that hooks fill even if there is no value, and the keys of bags of such fields.
func fixedIn(all *plan.Plan, version *plan.Version) []string {
	fields, keys := all.Fixed()
	names := fieldNames(version, func(field *plan.Field) bool { return fields[field] })
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if owner, _, _ := strings.Cut(key, "/"); owner == version.Name {
			names = append(names, quoted(key))
		}
	}
	return names
}

func fieldNames(version *plan.Version, isAmong func(field *plan.Field) bool) []string {
	var names []string
	for _, each := range version.Structs {
		for _, field := range each.Fields {
			if isAmong(field) {
				names = append(names, quoted(each.Declared.Declared().Name+"."+field.Name()))
			}
		}
	}
	return names
}
