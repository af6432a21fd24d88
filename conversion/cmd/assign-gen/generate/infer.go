/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// infer finds fields and types with other names in the next version. The test with the former conversions shows whether they mean the same.
func (a *adoption) infer(older, newer *model.Package) {
	names := make(map[*model.Type][]string)
	seen := make(map[[2]*model.Type]bool)
	var compare func(from, to *model.Type)
	compare = func(from, to *model.Type) {
		isStruct := from.Kind == model.Named && to.Kind == model.Named && from.Base().Kind == model.Struct && to.Base().Kind == model.Struct
		if !isStruct || from.Package != older.Path || to.Package != newer.Path || seen[[2]*model.Type{from, to}] {
			return
		}
		seen[[2]*model.Type{from, to}] = true
		if !slices.Contains(names[from], to.Name) {
			names[from] = append(names[from], to.Name)
		}
		for _, field := range from.Base().Fields {
			counterpart, at := renamed(field, from, to)
			if counterpart == nil {
				continue
			}
			if at != field.Name {
				a.markers[older][from.Name+"."+field.Name] = []string{"conversion:rename=" + at}
			}
			compare(field.Type.Innermost(), counterpart.Type.Innermost())
		}
	}
	for _, each := range older.Types {
		if to := newer.Type(each.Name); to != nil && each.Base().Field("ObjectMeta") != nil {
			compare(each, to)
		}
	}
	for from, to := range names {
		if !slices.Equal(to, []string{from.Name}) {
			a.markers[older][from.Name] = []string{"conversion:name=" + strings.Join(to, ",")}
		}
	}
}

// renamed returns the field of the newer struct to which an older one corresponds, and its path: that of the same name in Go, otherwise in JSON,
// otherwise in a struct that is new, and otherwise one of the same type and a similar name.
func renamed(field *model.Field, older, newer *model.Type) (counterpart *model.Field, at string) {
	if same := newer.Base().Field(field.Name); same != nil {
		return same, field.Name
	}
	if field.Inline() || slices.ContainsFunc(field.Markers, isOurs) {
		return nil, ""
	}
	spelled := func(f *model.Field) string { return f.Type.Spelled(func(t *model.Type) string { return t.Name }) }
	var names []string
	for _, each := range newer.Base().Fields {
		isNew := older.Base().Field(each.Name) == nil
		inside := each.Type.Base()
		if inside.Kind == model.Pointer {
			inside = inside.Elem.Base()
		}
		switch {
		case !isNew:
		case each.JSON == field.JSON:
			return each, each.Name
		case inside.Kind == model.Struct && inside.Field(field.Name) != nil && inside.Field(field.Name).JSON == field.JSON:
			return inside.Field(field.Name), each.Name + "." + field.Name
		case spelled(each) == spelled(field):
			names = append(names, each.Name)
		}
	}
	similar := func(name string) bool {
		return strings.HasPrefix(name, field.Name) || strings.HasPrefix(field.Name, name)
	}
	if i := slices.IndexFunc(names, similar); i >= 0 {
		return newer.Base().Field(names[i]), names[i]
	}
	name, _ := problem.Nearest(field.Name, names)
	return newer.Base().Field(name), name
}

func isOurs(marker model.Marker) bool { return strings.HasPrefix(marker.Name, "conversion:") }
