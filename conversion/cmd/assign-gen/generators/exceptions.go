/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"maps"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// droppedIn are the fields of a version that the functions above leave out, as tests name them.
func droppedIn(all *plan.Plan, version *plan.Version) []string {
	return fieldNames(version, all.Dropped())
}

// fixedIn are the fields of a version that hooks fill even if there is no value, and the keys of bags of such fields.
func fixedIn(all *plan.Plan, version *plan.Version) []string {
	fields, keys := all.Fixed()
	names := fieldNames(version, fields)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if owner, _, _ := strings.Cut(key, "/"); owner == version.Name {
			names = append(names, quoted(key))
		}
	}
	return names
}

func fieldNames(version *plan.Version, among map[*plan.Field]bool) []string {
	var names []string
	for _, each := range version.Structs {
		for _, field := range each.Fields {
			if among[field] {
				names = append(names, quoted(each.Declared.Declared().Name+"."+field.Name()))
			}
		}
	}
	return names
}
