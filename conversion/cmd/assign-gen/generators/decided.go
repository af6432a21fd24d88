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

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// The generated tests of what a version shows find faults of a plan, so that nothing here comes from one: only markers, and values of enums.

// undecided are markers that decide nothing about values.
var undecided = []string{"conversion:name", "conversion:sensitive", "conversion:positional", "conversion:key", "conversion:skip"}

// decides reports whether a marker decides about values of the next version, and decidesOlder about values of the older one.
func decides(marker model.Marker) bool {
	return strings.HasPrefix(marker.Name, "conversion:") && !slices.Contains(undecided, marker.Name) && marker.Name != "conversion:older"
}

func decidesOlder(marker model.Marker) bool {
	return marker.Name == "conversion:older" || marker.Name == "conversion:zero"
}

// oracle prints, for tests, the fields and types of each version that markers decide about, and the values of enums.
func (p *printer) oracle(all *plan.Plan) {
	p.linef("// decidedByMarkers are fields and types, by version.")
	p.linef("var decidedByMarkers = map[string][]string{")
	add := func(version string, names []string) {
		if names != nil {
			p.linef("%s: {%s},", quoted(version), quotedAll(slices.Compact(slices.Sorted(slices.Values(names)))))
		}
	}
	for _, link := range all.Links {
		add(link.Older.Name, decidedIn(link.Older.Package, decides))
		add("→ "+link.Newer.Name, append(decidedIn(link.Newer.Package, decidesOlder), movedInto(link.Older.Package)...))
	}
	p.end()
	p.linef("// valuesOfEnums are the values of types, by version.")
	p.linef("var valuesOfEnums = map[string]map[string][]string{")
	for _, version := range all.Versions {
		var lines []string
		for _, declared := range version.Package.Types {
			if borrowed(declared) {
				continue
			}
			add := func(name string, values []string) {
				if values != nil {
					lines = append(lines, fmt.Sprintf("%s: {%s},\n", quoted(name), quotedAll(values)))
				}
			}
			add(declared.Name, declared.Values())
			for _, field := range declared.Underlying.Fields {
				if values := field.Values(); !slices.Equal(values, field.Type.Innermost().Values()) {
					add(declared.Name+"."+field.Name, values)
				}
			}
		}
		if lines != nil {
			p.linef("%s: {\n%s},", quoted(version.Name), strings.Join(lines, ""))
		}
	}
	p.end()
}

// decidedIn are the names of fields, Type.Field, and types of a package.
func decidedIn(pkg *model.Package, decides func(marker model.Marker) bool) []string {
	var names []string
	for _, marker := range pkg.Markers {
		if marker.Name == "conversion-gen:with" {
			name, _, _ := strings.Cut(marker.Value, ",")
			names = append(names, name)
		}
	}
	for _, declared := range pkg.Types {
		if slices.ContainsFunc(declared.Markers, decides) {
			names = append(names, declared.Name)
		}
		for _, field := range declared.Underlying.Fields {
			if slices.ContainsFunc(field.Markers, decides) {
				names = append(names, fmt.Sprintf("%s.%s", declared.Declared().Name, field.Name))
			}
		}
	}
	return names
}

// movedInto are the fields of the next version that fields of other names become, in any struct.
func movedInto(pkg *model.Package) []string {
	var names []string
	for _, declared := range pkg.Types {
		for _, field := range declared.Underlying.Fields {
			for _, marker := range field.Markers {
				if marker.Name != "conversion:rename" && marker.Name != "conversion:alias" {
					continue
				}
				for path := range strings.SplitSeq(marker.Value, ",") {
					names = append(names, "*."+path[strings.LastIndex(path, ".")+1:])
				}
			}
		}
	}
	return names
}

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
