/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// target follows the marker rename, or the name. No path means that the newer version has no such field.
func (m *matching) target(older *Field) (path Path, ok bool) {
	if older.Settings.Rename != nil {
		return m.follow(older, m.targetOf(older), "rename")
	}
	if newer := m.pair.Newer.Field(older.Name()); newer != nil {
		return pathOf(newer), true
	}
	return nil, true
}

// follow finds the field of the newer version that a marker leads to. No path means that another struct has it which the older one becomes, too.
func (m *matching) follow(older *Field, steps []string, marker string) (path Path, ok bool) {
	missing := func(name, in string, candidates []string) {
		m.problem(problem.NoRenameTarget, older.label(),
			fmt.Sprintf("the field is called %s in the next version, and %s has no field %s%s", strings.Join(steps, "."), in, name,
				problem.Suggestion(name, candidates)),
			"correct +conversion:"+marker+", or add the field")
	}
	newer := m.pair.Newer.Field(steps[0])
	if newer == nil && m.isInAnother(steps[0]) {
		return nil, true
	}
	if newer == nil {
		missing(steps[0], m.pair.Newer.label(), model.Each(m.pair.Newer.Fields, (*Field).Name))
		return nil, false
	}
	path = pathOf(newer)
	declared := newer.API.Type
	for _, name := range steps[1:] {
		declared = declared.Pointed()
		if declared.Kind != model.Named || declared.Underlying.Kind != model.Struct {
			m.problem(problem.NoConversion, older.label()+" → "+m.newerLabel(path),
				fmt.Sprintf("the path %s leads through %s, which is no struct", strings.Join(steps, "."), declared),
				"lead through structs only, or use +conversion:strategy=augment")
			return nil, false
		}
		field := declared.Underlying.Field(name)
		if field == nil || !field.Exported() || field.JSON == "-" {
			missing(name, declared.String(), model.Each(declared.Underlying.Fields, func(f *model.Field) string { return f.Name }))
			return nil, false
		}
		path = append(path, m.step(declared, field))
		declared = field.Type
	}
	return path, true
}

// isInAnother reports whether another struct that the older one becomes has a field.
func (m *matching) isInAnother(name string) bool {
	return slices.ContainsFunc(m.pairs[m.pair.Older], func(other *Pair) bool { return other.Newer.Field(name) != nil })
}

// step enters a struct of the newer version or of another module.
func (m *matching) step(in *model.Type, field *model.Field) Step {
	version := m.pair.Newer.Version
	if !isOwn(in, version.Package.Path) {
		key := field.JSON
		if field.Inline() {
			key = field.Name
		}
		return Step{Name: field.Name, Type: field.Type, key: key}
	}
	return stepTo(version.Struct(in.Name).Field(field.Name))
}

// inside plans the fields of a newer struct that older fields lead into.
func (m *matching) inside(path Path) {
	declared := path.Last().Type.Pointed()
	// It belongs to the struct as a whole.
	m.pair.Fields = append(m.pair.Fields, &FieldPlan{Fate: StashedNewer, Newer: path, NewerKey: m.newerKey(path), Presence: true})
	for _, field := range declared.Underlying.Fields {
		if !field.Exported() || field.JSON == "-" {
			continue
		}
		inner := append(slices.Clone(path), m.step(declared, field))
		switch {
		case m.claimed[inner.String()] != nil:
		case m.leadsInto(inner):
			m.inside(inner)
		default:
			m.newerOnly(inner)
		}
	}
}

// leadsInto reports whether an older field becomes a part of what is at the end of a path.
func (m *matching) leadsInto(path Path) bool {
	for target := range m.claimed {
		if strings.HasPrefix(target, path.String()+".") {
			return true
		}
	}
	return false
}
