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

// keepable reports fields that must not, or cannot, be kept in the bag if the other version cannot show their values.
func (p *planner) keepable(label string, fields ...*Field) {
	for _, field := range fields {
		if field == nil { // of a struct of another module
			continue
		}
		if secret := sensitiveIn(field, make(map[*Field]bool)); secret != nil {
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

// DependsOnMetadata returns whether some conversion of a kind, as the hub has it, depends on the metadata of the object.
func (p *Plan) DependsOnMetadata(kind *Struct) bool {
	for _, link := range slices.Backward(p.Links) {
		for _, pair := range link.Pairs {
			if pair.Newer != kind {
				continue
			}
			if pair.Metadata {
				return true
			}
			kind = pair.Older
			break
		}
	}
	return false
}

// dependsOnMetadata returns whether a marker asks for the metadata, or a struct inside depends on it.
func dependsOnMetadata(pair *Pair) bool {
	if pair.Older.Settings.Metadata || (pair.Functions != nil && pair.Functions.Metadata) {
		return true
	}
	for _, each := range pair.Fields {
		if each.Fate != Converted {
			continue
		}
		functions, called := each.Conversion.Functions, each.Conversion.Called()
		if (functions != nil && functions.Metadata) || (called != nil && called.Metadata) {
			return true
		}
	}
	return false
}
