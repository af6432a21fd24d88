/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// Hand-written functions may convert any type into any other. The generated code keeps the original of a value that they do not
// convert back, so it must be allowed to.

// wholeKey names a struct in its own bag. No field is called so in JSON.
const wholeKey = "$whole"

// whole checks a struct that functions convert as a whole.
func (p *planner) whole(pair *Pair) {
	label := pair.Older.label()
	if pair.Older.Root {
		p.problem(problem.BadMarker, label, "functions cannot convert a kind as a whole, because its metadata is converted with it",
			"move +conversion:with to the types of its fields")
	}
	for _, each := range [][]*Field{pair.Older.Fields, pair.Newer.Fields} {
		p.keepable(label, each...)
	}
}

// callTypeFunctions handles a type of another module for which the older package names functions, and one of the older package with
// functions that is of another module in the next version. They have pointers as parameters and results, so that they convert a pointer as well.
func callTypeFunctions(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	from, to := older, newer
	if from.Kind == model.Pointer && to.Kind == model.Pointer {
		from, to = from.Elem, to.Elem
	}
	if from.Kind != model.Named || to.Kind == model.Pointer || from.Same(to) {
		return nil, ""
	}
	version := c.pair.Older.Version
	functions := c.typeFunctions[version][fullName(from)]
	if declared := version.Struct(from.Name); c.isOlder(from) && c.pairs[declared] == nil {
		functions = declared.Settings.With
	}
	if functions == nil {
		return nil, ""
	}
	c.used[version.Name+" "+fullName(from)] = true
	return &Conversion{Rule: ByFunctions, Older: older, Newer: newer, Functions: functions}, ""
}

func (p *planner) unusedFunctions(version *Version) {
	for name := range p.typeFunctions[version] {
		if !p.used[version.Name+" "+name] {
			p.problem(problem.BadMarker, where(version.Package), "no field holds "+name+" that becomes another type in the next version",
				"correct or remove +conversion-gen:with")
		}
	}
}

// keepable reports fields that must not, or cannot, be kept in the bag if the other version cannot show their values.
func (p *planner) keepable(label string, fields ...*Field) {
	for _, field := range fields {
		if field == nil { // of a struct of another module
			continue
		}
		if secret := sensitiveIn(field); secret != nil {
			p.problem(problem.SensitiveStash, label,
				secret.label()+" is sensitive, and values that the other version cannot show would be kept in the annotation",
				"use types that show every value, or +conversion:strategy=augment, or =drop,reason=TEXT")
		}
		if part := notInJSON(field.API.Type, field.Struct.Version.Package.Path, make(map[*model.Type]bool)); part != "" {
			p.problem(problem.UnsupportedType, label, "values that the other version cannot show are kept as JSON, and "+part+" does not survive that",
				"use another type, or +conversion:strategy=augment")
		}
	}
}

// metadata finds the pairs whose conversion depends on the metadata of the object.
func (p *planner) metadata(result *Plan) {
	for _, link := range result.Links {
		for changed := true; changed; {
			changed = false
			for _, pair := range link.Pairs {
				if !pair.Metadata && dependsOnMetadata(pair) {
					pair.Metadata, changed = true, true
				}
			}
		}
	}
}

// DependsOnMetadata reports whether some conversion of a kind, as the hub has it, depends on the metadata of the object.
func (p *Plan) DependsOnMetadata(kind *Struct) bool {
	for _, link := range slices.Backward(p.Links) {
		pair := model.Find(link.Pairs, func(p *Pair) bool { return p.Newer == kind })
		if pair != nil && pair.Metadata {
			return true
		}
		if pair != nil {
			kind = pair.Older
		}
	}
	return false
}

// dependsOnMetadata reports whether a marker requires the metadata, or a struct inside depends on it.
func dependsOnMetadata(pair *Pair) bool {
	if pair.Older.Settings.Metadata || (pair.Functions != nil && pair.Functions.Metadata) {
		return true
	}
	for _, each := range pair.Fields {
		if each.Fate != Converted {
			continue
		}
		if c := each.Conversion.Innermost(); (c.Functions != nil && c.Functions.Metadata) || (c.Pair != nil && c.Pair.Metadata) {
			return true
		}
	}
	return false
}
