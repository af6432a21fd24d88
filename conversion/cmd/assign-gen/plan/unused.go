/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// unused reports markers that are right in themselves and have nothing to act on.
func (p *planner) unused(result *Plan) {
	for _, version := range result.Versions {
		p.unusedFunctions(version)
		p.unusedEnums(version)
		for _, each := range version.Structs {
			here := each.label()
			pairs := p.pairs[each]
			idle := each.Settings.With != nil && !p.used[version.Name+" "+fullName(each.Declared)]
			if pairs == nil && (each.Settings.Augment || idle || (each.Settings.Names != nil && version.Next == nil)) {
				p.problem(problem.BadMarker, here, "the type has a marker about the next version, and has no counterpart there",
					"remove +conversion:name, :augment and :with")
			}
			for _, field := range each.Fields {
				p.unusedAt(field, slices.Concat(pairs, p.flat[each]))
			}
		}
	}
}

func (p *planner) unusedAt(field *Field, pairs []*Pair) {
	p.listKeys(field)
	p.unusedForNext(field, pairs)
	settings := field.Settings
	hasZero := StorageType(field.API.Type, field.Struct.Version.Package.Path).Base().Kind == model.Basic || field.writesJSON() || field.isOwnList()
	if settings.ZeroIsAbsent && (!hasZero || field.API.Omit != model.Always) {
		p.problem(problem.BadMarker, field.label(),
			"+conversion:zero is at a field that is no number, text, bool, list or map that JSON always shows", "remove it")
	}
	if (settings.ToOlder.Strategy != "" || settings.Basis != nil) && !p.used[field.label()] {
		p.problem(problem.BadMarker, field.label(), "the field has a marker about the older version, and no older version lacks the field",
			"remove +conversion:older and +conversion:basis")
	}
	if settings.ToOlder.Strategy != "" && settings.ToOlder.Strategy != markers.Stash && settings.Basis != nil {
		p.problem(problem.BadMarker, field.label(), "the field has a basis for its stash, and is not stashed", "remove +conversion:basis or +conversion:older")
	}
}

// unusedForNext reports markers about the next version.
func (p *planner) unusedForNext(field *Field, pairs []*Pair) {
	settings := field.Settings
	aboutNext := settings.Rename != nil || settings.Alias != nil || settings.Flatten || settings.ToNext.Strategy != "" || settings.HasConversion()
	if pairs == nil && aboutNext {
		p.problem(problem.BadMarker, field.label(), "the field has a marker about the next version, where its type has no counterpart",
			"remove +conversion:rename, :alias, :flatten, :strategy, :enum, :unit and :with; for the field's conversion to the older version, "+
				"use +conversion:older")
	}
	if settings.ToNext.Strategy != "" && (settings.Rename != nil || settings.HasConversion()) {
		p.problem(problem.BadMarker, field.label(), "the field has a strategy, so that its other markers about the next version mean nothing",
			"remove either +conversion:strategy or +conversion:rename, :enum, :unit and :with")
	}
	if settings.Flatten && (settings.Rename != nil || settings.ToNext.Strategy != "" || settings.HasConversion()) {
		p.problem(problem.BadMarker, field.label(),
			"the fields of the struct are converted each by itself, so that other markers about the next version mean nothing here",
			"remove either +conversion:flatten or +conversion:rename, :strategy, :enum, :unit and :with")
	}
	if settings.Alias != nil && (settings.Rename != nil || settings.Flatten || settings.ToNext.Strategy != "" || settings.Enum != nil) {
		p.problem(problem.BadMarker, field.label(),
			"an alias is shown in the field that its marker names, and has no other markers for that than :unit and :with",
			"remove either +conversion:alias or +conversion:rename, :flatten, :strategy and :enum")
	}
	if settings.With != nil && (settings.Enum != nil || settings.Unit != "") {
		p.problem(problem.BadMarker, field.label(), "functions convert the field, so that its enum map or unit means nothing",
			"remove +conversion:with, or +conversion:enum and :unit")
	}
	isThere := func(pair *Pair) bool { return pair.Newer.Field(field.Name()) != nil }
	isNamed := settings.Rename != nil || settings.Alias != nil
	if pairs != nil && settings.HasConversion() && settings.ToNext.Strategy == "" && !isNamed && !slices.ContainsFunc(pairs, isThere) {
		p.problem(problem.BadMarker, field.label(), "the field has a marker about its conversion, and the next version has no such field",
			"remove +conversion:enum, :unit and :with, or add +conversion:rename")
	}
	if field.Struct.Settings.With != nil && aboutNext {
		p.problem(problem.BadMarker, field.label(),
			"functions convert the type of the field as a whole, so that its markers about the next version mean nothing",
			"remove +conversion:with from the type, or the markers from the field")
	}
}
