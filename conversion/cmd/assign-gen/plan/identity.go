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

// What elements of a list keep in the bag has to find its element again after somebody edited the list. So in each version
// that cannot show everything, a list says what its elements are recognized by. These functions find the lists that do not.

// identities reports lists of structs that something is kept for and whose elements nothing identifies.
func (p *planner) identities(result *Plan) {
	below := make(map[*Field][]*FieldPlan)
	for _, link := range result.Links {
		for _, pair := range link.Pairs {
			for _, each := range pair.Fields {
				if each.Fate == Converted && each.Newer.Last().Field != nil {
					newer := each.Newer.Last().Field
					below[newer] = append(below[newer], each)
				}
			}
		}
	}
	for _, version := range result.Versions {
		for _, each := range version.Structs {
			for _, field := range each.Fields {
				if !hasKeylessList(field) || field.Settings.Positional {
					continue
				}
				if p.keptFromAbove(field) || p.keptFromBelow(field, below) {
					p.problem(problem.NoIdentity, field.label()+" ("+field.API.Type.String()+")",
						"values are kept in the annotation for its elements, and nothing identifies an element once the list is edited",
						"add +listType=map and +listMapKey=NAME, or accept identity by position and content with +conversion:positional")
				}
			}
		}
	}
}

// hasKeylessList says whether a field holds structs in a list that has no keys.
func hasKeylessList(field *Field) bool {
	pkg := field.Struct.Version.Package.Path
	if !isOwn(innermost(field.API.Type, pkg), pkg) {
		return false
	}
	t := StorageType(field.API.Type, pkg)
	if t.Kind == model.Slice && len(field.Settings.ListMapKeys) > 0 {
		t = t.Elem // keys identify the outermost elements
	}
	for ; t.Elem != nil; t = t.Elem {
		if t.Kind == model.Slice {
			return true
		}
	}
	return false
}

// keptFromAbove says whether newer versions have something to keep for elements of a field.
func (p *planner) keptFromAbove(field *Field) bool {
	for {
		link := p.plans[field]
		if link == nil || link.Conversion.Called() == nil {
			return false
		}
		if keeps(link.Conversion.Called(), false, make(map[*Pair]bool)) {
			return true
		}
		if field = link.Newer.Last().Field; field == nil {
			return false
		}
	}
}

// keptFromBelow says the same of older versions.
func (p *planner) keptFromBelow(field *Field, below map[*Field][]*FieldPlan) bool {
	for _, link := range below[field] {
		called := link.Conversion.Called()
		if called != nil && (keeps(called, true, make(map[*Pair]bool)) || p.keptFromBelow(link.Older, below)) {
			return true
		}
	}
	return false
}

// keeps says whether converting a struct up, or down, can leave something in the bag.
func keeps(pair *Pair, up bool, seen map[*Pair]bool) bool {
	if seen[pair] {
		return false
	}
	seen[pair] = true
	if pair.Augmented || pair.Functions != nil {
		return true
	}
	for _, each := range pair.Fields {
		switch each.Fate {
		case StashedOlder:
			if up || each.Older.absence() == alwaysThere {
				return true
			}
		case StashedNewer:
			if !up || each.Newer.Last().Field != nil && each.Newer.Last().Field.absence() == alwaysThere {
				return true
			}
		case Converted:
			if each.Conversion.Inexact() || marked(each, up) {
				return true
			}
			if called := each.Conversion.Called(); called != nil && keeps(called, up, seen) {
				return true
			}
		case AugmentedOlder, AugmentedNewer:
			return true
		case DroppedOlder, DroppedNewer:
		}
	}
	return false
}

// absence is how an API field shows that there is nothing.
type absence int

const (
	// byNil is a pointer, or a list that is null.
	byNil absence = iota
	// byZero is a value that JSON leaves out when it is zero, a list that it leaves out when empty, or a struct.
	byZero
	// alwaysThere is a value that JSON always shows.
	alwaysThere
)

func (f *Field) absence() absence {
	t := StorageType(f.API.Type, f.Struct.Version.Package.Path).Base()
	switch t.Kind {
	case model.Pointer:
		return byNil
	case model.Slice, model.Map:
		if f.API.Omit == model.OmitEmpty {
			return byZero
		}
		return byNil // omitzero leaves out nil and shows what is empty
	case model.Struct, model.Array:
		if f.ShowsZero() {
			return alwaysThere
		}
		return byZero
	case model.Basic, model.Named, model.Unsupported:
	}
	if f.API.Omit == model.Always {
		return alwaysThere
	}
	return byZero
}

// marked says whether one version shows absence in a way that the destination cannot, so that a mark is kept.
func marked(each *FieldPlan, up bool) bool {
	newer := each.Newer.Last().Field
	if newer == nil {
		return false
	}
	from, to := newer.absence(), each.Older.absence()
	if up {
		from, to = to, from
	}
	return to != byNil && from != to
}

// nullWhenZero are types that write null instead.
var nullWhenZero = []string{metaPackage + ".Time", metaPackage + ".MicroTime", "knative.dev/pkg/apis.VolatileTime"}

// ShowsZero says whether JSON shows a struct that is not there in a way that does not read as nothing again. It is so for
// types of other modules that write their JSON themselves and tell when they are zero, such as the quantity "0", and for
// structs that hold one.
func (f *Field) ShowsZero() bool {
	return f.API.Omit != model.OmitZero && zeroIsShown(f.API.Type)
}

func zeroIsShown(t *model.Type) bool {
	base := t.Base()
	switch {
	case base.Kind == model.Array:
		return zeroIsShown(base.Elem)
	case base.Kind != model.Struct || slices.Contains(nullWhenZero, t.Package+"."+t.Name):
		return false
	case t.Has("MarshalJSON"):
		return t.Has("IsZero")
	}
	return slices.ContainsFunc(base.Fields, func(field *model.Field) bool {
		return field.Omit != model.OmitZero && field.Exported() && field.JSON != "-" && zeroIsShown(field.Type)
	})
}
