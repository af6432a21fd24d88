/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/nearest"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

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
			for _, pair := range p.pairs[each] {
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
		p.problem(problem.BadMarker, field.label(), field.Settings.KeyMarker+" identifies elements of a list, and the field is no list",
			"remove it")
		return
	}
	var known []string
	for _, each := range elementOf(list).Base().Fields {
		known = append(known, each.JSON)
	}
	for _, key := range field.Settings.ListMapKeys {
		if elementOf(list).FieldInJSON(key) == nil {
			p.problem(problem.BadMarker, field.label(), "the list's elements have no field "+key+" in JSON"+nearest.Suggestion(key, known),
				"correct "+field.Settings.KeyMarker)
		}
	}
}
