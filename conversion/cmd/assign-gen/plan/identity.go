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

// The stash of a list element in the bag has to find its element again after a client edited the list. So in each version
// that cannot show everything, a list says what its elements are recognized by. These functions find the lists that do not.

// identities reports lists of structs that something is kept for and whose elements nothing identifies.
func (p *planner) identities(result *Plan) {
	below := make(map[*Field][]*FieldPlan)
	for _, converted := range p.plans {
		for _, each := range converted {
			below[each.newerField()] = append(below[each.newerField()], each)
		}
	}
	for _, version := range result.Versions {
		if version.positional {
			continue
		}
		for _, each := range version.Structs {
			for _, field := range each.Fields {
				if !hasKeylessList(field) || field.Settings.Positional {
					continue
				}
				if kept := append(keptBeyond(field, false, p.plans), keptBeyond(field, true, below)...); kept != nil {
					p.problem(problem.NoIdentity, field.label()+" ("+field.API.Type.String()+")",
						"the annotation keeps "+enumerated(kept)+" for its elements, and nothing identifies them after an edit",
						identityFix(field, kept))
				}
			}
		}
	}
}

// whether begins the words for a value of which only the presence is kept.
const whether = "whether "

// enumerated names at most three of several things.
func enumerated(all []string) string {
	const shown = 3
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	switch more := len(all) - shown; {
	case len(all) == 1:
		return all[0]
	case more > 0:
		return fmt.Sprintf("%s and %d more", strings.Join(all[:shown], ", "), more)
	default:
		return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
	}
}

// identityFix offers the field of the elements that is likely to identify them.
func identityFix(field *Field, kept []string) string {
	zero := ""
	if slices.ContainsFunc(kept, func(each string) bool { return strings.HasPrefix(each, whether) }) {
		zero = "represent the field alike in both versions, as a pointer or as a value, or "
	}
	key := "NAME"
	if t := StorageType(field.API.Type, field.Struct.Version.Package.Path); t.Kind == model.Slice {
		key = likelyKey(t.Elem.Pointed())
	}
	return zero + "add +conversion:key=" + key + " (for conversions only), or +listType=map and +listMapKey=" + key +
		", or accept place and content: +conversion:positional"
}

// likelyKey returns the name in JSON of a text that identifies elements by convention.
func likelyKey(element *model.Type) string {
	for _, name := range []string{"name", "key", "id", "uid"} {
		if field := element.FieldInJSON(name); field != nil && isString(field.Type.Base()) {
			return name
		}
	}
	return "NAME"
}

// hasKeylessList reports whether a field holds structs in a list that has no keys.
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

// keptBeyond returns the properties that have to be kept for elements of a field when objects come up from older versions, or down from newer ones.
func keptBeyond(field *Field, up bool, links map[*Field][]*FieldPlan) []string {
	var all []string
	for _, link := range links[field] {
		if called := link.Conversion.Called(); called != nil {
			next := link.newerField()
			if up {
				next = link.Older
			}
			all = append(all, kept(called, up, make(map[*Pair]bool))...)
			all = append(all, keptBeyond(next, up, links)...)
		}
	}
	return all
}

// kept returns the properties that converting a struct up, or down, can leave in the bag.
func kept(pair *Pair, up bool, seen map[*Pair]bool) []string {
	if seen[pair] {
		return nil
	}
	seen[pair] = true
	var all []string
	if pair.Augmented {
		all = append(all, "values of the hook of "+pair.Older.label())
	}
	if pair.Functions != nil {
		all = append(all, "values of "+pair.Functions.Up+" and "+pair.Functions.Down)
	}
	for _, each := range pair.Aliases {
		if up {
			all = append(all, each.Older.label())
		}
	}
	for _, each := range pair.Fields {
		switch each.Fate {
		case StashedOlder:
			if up || each.Older.absence() == alwaysThere {
				all = append(all, each.Older.label())
			}
		case StashedNewer:
			if newer := each.newerField(); !up || newer != nil && newer.absence() == alwaysThere {
				all = append(all, pair.Newer.label()+"."+each.Newer.String())
			}
		case Converted:
			if each.Conversion.Inexact() || each.Conversion.Rule == OfKeys {
				all = append(all, pair.source(each, up))
			} else if marked(each, up) {
				all = append(all, whether+pair.source(each, up)+" was absent or "+each.zeroInWords())
			}
			if called := each.Conversion.Called(); called != nil {
				all = append(all, kept(called, up, seen)...)
			}
		case AugmentedOlder, AugmentedNewer, DroppedOlder, DroppedNewer:
		}
	}
	return all
}

// zeroInWords names what a version shows in place of what is absent.
func (f *FieldPlan) zeroInWords() string {
	if isList(f.Conversion.Older) {
		return "empty"
	}
	return "zero"
}

// source names the field that a conversion starts from.
func (p *Pair) source(each *FieldPlan, up bool) string {
	if up {
		return each.Older.label()
	}
	return p.Newer.label() + "." + each.Newer.String()
}
