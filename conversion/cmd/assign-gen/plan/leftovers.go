/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/nearest"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// unused reports markers that are right in themselves and have nothing to act on.
func (p *planner) unused(result *Plan) {
	for _, version := range result.Versions {
		for _, each := range version.Structs {
			here := each.label()
			pair := p.pairs[each]
			if pair == nil && (each.Settings.Augment || each.Settings.With != nil || (each.Settings.Name != "" && version.Next == nil)) {
				p.problem(problem.BadMarker, here, "the type has a marker about the next version, and has no counterpart there",
					"remove +conversion:name, :augment and :with")
			}
			for _, field := range each.Fields {
				p.unusedAt(field, pair)
			}
		}
	}
}

func (p *planner) unusedAt(field *Field, pair *Pair) {
	p.listKeys(field)
	settings := field.Settings
	aboutNext := settings.Rename != nil || settings.ToNext.Strategy != "" || settings.HasConversion()
	if pair == nil && aboutNext {
		p.problem(problem.BadMarker, field.label(), "the field has a marker about the next version, where its type has no counterpart",
			"remove +conversion:rename, :strategy, :enum, :unit and :with; for the field's conversion to the older version, use +conversion:older")
	}
	if settings.ToNext.Strategy != "" && (settings.Rename != nil || settings.HasConversion()) {
		p.problem(problem.BadMarker, field.label(), "the field has a strategy, so that its other markers about the next version mean nothing",
			"remove either +conversion:strategy or +conversion:rename, :enum, :unit and :with")
	}
	if settings.With != nil && (settings.Enum != nil || settings.Unit != "") {
		p.problem(problem.BadMarker, field.label(),
			"functions convert the field, so that its enum map or unit means nothing",
			"remove +conversion:with, or +conversion:enum and :unit")
	}
	if pair != nil && settings.HasConversion() && settings.ToNext.Strategy == "" && settings.Rename == nil && pair.Newer.Field(field.Name()) == nil {
		p.problem(problem.BadMarker, field.label(), "the field has a marker about its conversion, and the next version has no such field",
			"remove +conversion:enum, :unit and :with, or add +conversion:rename")
	}
	if pair != nil && pair.Functions != nil && aboutNext {
		p.problem(problem.BadMarker, field.label(),
			"functions convert the type of the field as a whole, so that its markers about the next version mean nothing",
			"remove +conversion:with from the type, or the markers from the field")
	}
	if (settings.ToOlder.Strategy != "" || settings.Basis != nil) && !p.used[field.label()] {
		p.problem(problem.BadMarker, field.label(), "the field has a marker about the older version, and no older version lacks the field",
			"remove +conversion:older and +conversion:basis")
	}
	if settings.ToOlder.Strategy != "" && settings.ToOlder.Strategy != markers.Stash && settings.Basis != nil {
		p.problem(problem.BadMarker, field.label(), "the field has a basis for its stash, and is not stashed", "remove +conversion:basis or +conversion:older")
	}
}

// collisions reports names that generated code needs and that are taken.
func (p *planner) collisions(result *Plan) {
	for _, version := range result.Versions {
		for _, each := range version.Structs {
			here := each.label()
			apiNames := []string{"assignToStorage", "assignFromStorage"}
			storageNames := []string{"PropertyBag", "DeepCopy", "DeepCopyInto", "AssignPropertiesTo", "AssignPropertiesFrom"}
			if each.Root {
				apiNames = append(apiNames, "AssignProperties_To_"+each.Name, "AssignProperties_From_"+each.Name, "AssignToHub", "AssignFromHub")
				apiNames = append(apiNames, result.Interface.methods(version == result.Hub)...)
				storageNames = append(storageNames, "ObjectMeta", "AssignToHub", "AssignFromHub")
			}
			if pair := p.pairs[each]; pair != nil {
				storageNames = append(storageNames, "AssignProperties_To_"+pair.Newer.Name, "AssignProperties_From_"+pair.Newer.Name)
			}
			for _, name := range apiNames {
				if each.Declared.Has(name) || each.Field(name) != nil {
					p.problem(problem.NameCollision, here, "the type has a method or field "+name+", which is generated", "rename it, or remove the method")
				}
			}
			for _, name := range storageNames {
				if each.Field(name) != nil {
					p.problem(problem.NameCollision, here, "the type has a field "+name+", which is the name of something in its storage type",
						"rename the field in Go; JSON may keep its name")
				}
			}
			if each.Root && version.Struct(each.Name+"HubConvertible") != nil {
				p.problem(problem.NameCollision, here,
					"there is a type "+each.Name+"HubConvertible, which is the name of something in the storage package", "rename that type")
			}
			p.ambiguousJSON(each, here)
		}
	}
}

// ambiguousJSON reports a struct whose fields share a name, of which JSON would keep neither.
func (p *planner) ambiguousJSON(each *Struct, here string) {
	var seen []string
	for _, field := range each.Fields {
		if slices.Contains(seen, field.Key()) {
			p.problem(problem.NameCollision, here, "two fields are called "+field.Key()+" in JSON", "rename one of them")
		}
		seen = append(seen, field.Key())
	}
}

// listKeys reports keys of a list that its elements do not have.
func (p *planner) listKeys(field *Field) {
	list := StorageType(field.API.Type, field.Struct.Version.Package.Path)
	if len(field.Settings.ListMapKeys) == 0 {
		return
	}
	if list.Kind != model.Slice {
		p.problem(problem.BadMarker, field.label(), field.Settings.KeyMarker+" identifies elements of a list, and the field is none",
			"remove it")
		return
	}
	var known []string
	for _, each := range elementOf(list).Base().Fields {
		known = append(known, each.JSON)
	}
	for _, key := range field.Settings.ListMapKeys {
		if !slices.Contains(known, key) {
			p.problem(problem.BadMarker, field.label(), "the list's elements have no field "+key+" in JSON"+nearest.Suggestion(key, known),
				"correct "+field.Settings.KeyMarker)
		}
	}
}
