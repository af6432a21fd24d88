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
	report := func(found bool, text, fix string) {
		if found {
			p.problem(problem.BadMarker, field.label(), text, fix)
		}
	}
	settings, hasStrategy := field.Settings, field.Settings.ToNext.Strategy != ""
	hasZero := StorageType(field.API.Type, field.Struct.Version.Package.Path).Base().Kind == model.Basic || field.writesJSON() || field.isOwnList()
	report(settings.ZeroIsAbsent && (!hasZero || field.API.Omit != model.Always),
		"+conversion:zero is at a field that is no number, text, bool, list or map that JSON always shows", "remove it")
	report(settings.ToOlder.Strategy != "" && !p.used[field.label()],
		"the field has a marker about the older version, and no older version lacks the field", "remove +conversion:older")

	aboutNext := settings.Rename != nil || settings.Alias != nil || settings.Flatten || hasStrategy || settings.HasConversion()
	report(pairs == nil && aboutNext, "the field has a marker about the next version, where its type has no counterpart",
		"remove +conversion:rename, :alias, :flatten, :strategy, :enum, :unit and :with; for the field's conversion to the older version, "+
			"use +conversion:older")
	report(hasStrategy && (settings.Rename != nil || settings.HasConversion()),
		"the field has a strategy, so that its other markers about the next version mean nothing",
		"remove either +conversion:strategy or +conversion:rename, :enum, :unit and :with")
	report(settings.Flatten && (settings.Rename != nil || hasStrategy || settings.HasConversion()),
		"the fields of the struct are converted each by itself, so that other markers about the next version mean nothing here",
		"remove either +conversion:flatten or +conversion:rename, :strategy, :enum, :unit and :with")
	report(settings.Alias != nil && (settings.Rename != nil || settings.Flatten || hasStrategy || settings.Enum != nil),
		"an alias is shown in the field that its marker names, and has no other markers for that than :unit and :with",
		"remove either +conversion:alias or +conversion:rename, :flatten, :strategy and :enum")
	report(settings.With != nil && (settings.Enum != nil || settings.Unit != ""),
		"functions convert the field, so that its enum map or unit means nothing", "remove +conversion:with, or +conversion:enum and :unit")
	isThere := func(pair *Pair) bool { return pair.Newer.Field(field.Name()) != nil }
	isNamed := settings.Rename != nil || settings.Alias != nil
	report(pairs != nil && settings.HasConversion() && !hasStrategy && !isNamed && !slices.ContainsFunc(pairs, isThere),
		"the field has a marker about its conversion, and the next version has no such field",
		"remove +conversion:enum, :unit and :with, or add +conversion:rename")
	report(field.Struct.Settings.With != nil && aboutNext,
		"functions convert the type of the field as a whole, so that its markers about the next version mean nothing",
		"remove +conversion:with from the type, or the markers from the field")
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
	known := model.Each(list.Elem.Pointed().Base().Fields, func(f *model.Field) string { return f.JSON })
	for _, key := range field.Settings.ListMapKeys {
		if list.Elem.Pointed().FieldInJSON(key) == nil {
			p.problem(problem.BadMarker, field.label(), "the list's elements have no field "+key+" in JSON"+problem.Suggestion(key, known),
				"correct "+field.Settings.KeyMarker)
		}
	}
}
