/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// Fields correspond by their names in Go, and users know those in JSON. A field that both versions call the same in JSON is hardly ever
// meant to disappear at one of them, so that is reported unless a marker requests it.

// sameJSON reports fields that would be stashed although the other version has a field of the same name in JSON.
func (p *planner) sameJSON(pair *Pair) {
	before, after := leaves(pair.Older, nil), leaves(pair.Newer, nil)
	for _, each := range before {
		fate, other := pair.fateOf(each.path, fromPath), named(after, each.json)
		if fate == nil || fate.Fate != StashedOlder || other == nil || fate.Older.Settings.ToNext.Strategy == markers.Stash {
			continue
		}
		shown := "both would be stashed"
		fix := "use a hook (+conversion:strategy=augment) if they mean the same, or +conversion:strategy=stash if they do not"
		switch newerFate := pair.fateOf(other.path, toPath); {
		case newerFate != nil && newerFate.Fate != StashedNewer:
			shown = "only " + where(pair.Older.Version.Package) + " would show it"
		case len(each.path) == 1:
			fix = fmt.Sprintf("add +conversion:rename=%s if they mean the same, or +conversion:strategy=stash if they do not", strings.Join(other.path, "."))
		}
		p.problem(problem.SameJSON, pair.Older.label()+"."+strings.Join(each.path, "."),
			fmt.Sprintf("JSON calls it %s, like %s.%s, and %s", each.json, pair.Newer.label(), strings.Join(other.path, "."), shown), fix)
	}
	for _, each := range after {
		fate, other := pair.fateOf(each.path, toPath), named(before, each.json)
		if fate == nil || fate.Fate != StashedNewer || other == nil {
			continue
		}
		if field := fate.Newer.Last().Field; field != nil && field.Settings.ToOlder.Strategy == markers.Stash {
			continue
		}
		if olderFate := pair.fateOf(other.path, fromPath); olderFate != nil && olderFate.Fate != StashedOlder {
			p.problem(problem.SameJSON, pair.Newer.label()+"."+strings.Join(each.path, "."),
				fmt.Sprintf("JSON calls it %s, like %s.%s, and only %s would show it", each.json, pair.Older.label(), strings.Join(other.path, "."),
					where(pair.Newer.Version.Package)),
				"leave it to the hook (+conversion:older=augment) if they mean the same, or add +conversion:older=stash if they do not")
		}
	}
}

// leaf is a field that JSON shows in a struct: one of its fields, or one of a struct that is inlined.
type leaf struct {
	json string
	// path are the names in Go.
	path []string
}

func named(all []*leaf, json string) *leaf {
	return model.Find(all, func(l *leaf) bool { return l.json == json })
}

func leaves(of *Struct, path []string) []*leaf {
	return leavesIn(of.Version, model.Each(of.Fields, func(f *Field) *model.Field { return f.API }), path)
}

func leavesIn(version *Version, fields []*model.Field, path []string) (all []*leaf) {
	for _, field := range fields {
		at := append(slices.Clone(path), field.Name)
		switch {
		case !field.Exported() || field.JSON == "-":
		case !field.Inline():
			all = append(all, &leaf{json: field.JSON, path: at})
		case isOwn(field.Type, version.Package.Path):
			all = append(all, leaves(version.Struct(field.Type.Name), at)...)
		default:
			all = append(all, leavesIn(version, field.Type.Base().Fields, at)...)
		}
	}
	return all
}

// fateOf returns the plan that decides about a field of the older or the newer struct, or about the inlined struct that it is in. Parts of one struct
// may be fields of the other one.
func (p *Pair) fateOf(path []string, side func(f *FieldPlan) Path) *FieldPlan {
	for end := range path {
		name, rest := strings.Join(path[:end+1], "."), path[end+1:]
		fate := model.Find(p.Fields, func(f *FieldPlan) bool { return side(f).String() == name && !f.Presence })
		if fate == nil {
			continue
		}
		if inlined := fate.inlined(rest); inlined != nil {
			return inlined.fateOf(rest, side)
		}
		return fate
	}
	return nil
}

func fromPath(f *FieldPlan) Path { return f.From }

func toPath(f *FieldPlan) Path { return f.Newer }

// inlined returns the pair whose fields decide about the rest of a path, if a plan converts a struct that the path leads through.
func (f *FieldPlan) inlined(rest []string) *Pair {
	if len(rest) == 0 || f.Fate != Converted {
		return nil
	}
	return f.Conversion.Called()
}
