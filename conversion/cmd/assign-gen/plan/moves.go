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

// A field may move: into a struct that only the newer version has, out of one that only the older version has, and into a struct
// that both have. In the first two cases the struct is planned field by field as a part of the struct around it. In the last case
// the struct has its own conversion, which the moved field is added to.

// Shared is a struct that both versions have, and that the older version has fields of elsewhere.
type Shared struct {
	// Older leads to the struct in the older version.
	Older Path
	// OlderKey is the key in the bag for the number of structs on that path that were empty but not absent.
	OlderKey string
	// Fields are the conversions of the fields that the older version has elsewhere, NewerKeys are the keys by which the
	// conversion of the shared struct would keep them.
	Fields    []*FieldPlan
	NewerKeys []string
}

// sources returns the paths of all fields that a struct has for the next version, with those of structs that are flattened in their place.
func (m *matching) sources() []Path {
	var all []Path
	var add func(path Path)
	add = func(path Path) {
		all = append(all, path)
		if !path.Last().Field.Settings.Flatten {
			return
		}
		inner, reason := m.flattened(path)
		if inner == nil {
			m.problem(problem.BadMarker, path.Last().Field.label(), "the marker +conversion:flatten is at a field that "+reason,
				"remove it, or lead each field to its place by +conversion:rename or a hook")
			return
		}
		m.flat[inner] = append(m.flat[inner], m.pair)
		for _, field := range inner.Fields {
			add(append(slices.Clone(path), stepTo(field)))
		}
	}
	for _, field := range m.pair.Older.Fields {
		add(pathOf(field))
	}
	return all
}

// flattened returns the struct at the end of a path, or why it cannot be flattened.
func (m *matching) flattened(path Path) (inner *Struct, reason string) {
	version, t := m.pair.Older.Version, path.Last().Field.API.Type.Pointed()
	if !isOwn(t, version.Package.Path) || t.Underlying.Kind != model.Struct {
		return nil, "holds no struct of " + where(version.Package)
	}
	inner = version.Struct(t.Name)
	for _, step := range path {
		if step.Field.Struct == inner {
			return nil, "is inside of the struct that it holds"
		}
	}
	return inner, ""
}

// direct returns the conversion of the struct at a newer field, or nil if fields of the older struct lead into it only.
func (p *Pair) direct(name string) *FieldPlan {
	return model.Find(p.Fields, func(f *FieldPlan) bool { return f.Fate == Converted && f.Newer.String() == name })
}

// shared adds the moves into structs that both versions have to the conversions of these structs.
func (p *planner) shared(pair *Pair) {
	for _, each := range pair.Fields {
		if each.Fate != Converted || len(each.Newer) == 1 || pair.direct(each.Newer[0].Name) == nil {
			continue
		}
		m := &matching{planner: p, pair: pair}
		older, key, reason := m.around(each)
		if reason != "" {
			p.problem(problem.TwoSources, each.Older.label()+" → "+m.newerLabel(each.Newer), reason,
				"lead to a field that only the newer struct has, or use +conversion:strategy=augment or =stash")
			continue
		}
		at := model.Find(pair.Shared, func(s *Shared) bool { return s.Older.String() == older.String() })
		if at == nil {
			at = &Shared{Older: older, OlderKey: m.olderKey(older)}
			pair.Shared = append(pair.Shared, at)
		}
		at.Fields, at.NewerKeys = append(at.Fields, each), append(at.NewerKeys, key)
	}
}

// around follows a path through structs that both versions have. It returns the path to the last one in the older version, and the key by which
// its conversion would keep the field at the end. The last step leads to a field of the newer struct, which decides.
func (m *matching) around(moved *FieldPlan) (older Path, key, reason string) {
	at := m.pair
	for i := 0; ; i++ {
		step, rest := moved.Newer[i], moved.Newer[i:].String()
		end := model.Find(at.Fields, func(f *FieldPlan) bool { return f.Newer.String() == rest && !f.Presence && f != moved })
		if end != nil && end.Fate == StashedNewer {
			return older, end.NewerKey, ""
		}
		next := at.direct(step.Name)
		if end != nil || next == nil {
			return nil, "", fmt.Sprintf("both versions have %s, and its conversion decides about %s", at.Newer.label(), rest)
		}
		if next.Conversion.Rule != OfPointer || next.Conversion.Elem.Rule != Call || next.Conversion.Elem.Pair.Functions != nil {
			return nil, "", next.Older.label() + " leads here too, and is not converted field by field"
		}
		older, at = append(older, next.From...), next.Conversion.Elem.Pair
	}
}

// isDirect reports whether an older field becomes a newer one as a whole, so that others that lead into it share it.
func (m *matching) isDirect(newer *Field) bool {
	return slices.ContainsFunc(m.from, func(path Path) bool {
		older := path.Last().Field
		target := m.targetOf(older)
		return len(target) == 1 && target[0] == newer.Name() && older.Settings.IsConverted()
	})
}

// targetOf returns the names on the way to the field that an older one becomes, if there is one.
func (m *matching) targetOf(older *Field) []string {
	paths := older.Settings.Rename
	if paths == nil {
		return []string{older.Name()}
	}
	return paths[max(0, slices.IndexFunc(paths, m.leadsToField))]
}

// leadsToField reports whether the newer struct has a field at the end of a path.
func (m *matching) leadsToField(path []string) bool {
	newer := m.pair.Newer.Field(path[0])
	if newer == nil {
		return false
	}
	at := newer.API.Type
	for _, name := range path[1:] {
		field := at.Pointed().Base().Field(name)
		if field == nil {
			return false
		}
		at = field.Type
	}
	return true
}

func pathOf(field *Field) Path { return Path{stepTo(field)} }

func stepTo(field *Field) Step {
	return Step{Name: field.Name(), Type: field.Storage, Field: field}
}

// Key names the end of a path for the bag: by the names in JSON, without that of a struct which the path begins with and which JSON inlines.
func (p Path) Key() string {
	var names []string
	for i, step := range p {
		switch {
		case step.Field == nil:
			names = append(names, step.key)
		case i > 0 || len(p) == 1 || !step.Field.API.Inline():
			names = append(names, step.Field.Key())
		}
	}
	return strings.Join(names, ".")
}
