/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import "maps"

// Dropped returns the fields whose values do not survive the way to the hub or from it, because a version on that way drops
// them on purpose.
func (p *Plan) Dropped() map[*Field]bool {
	return p.spread(func(f *FieldPlan, newer *Field, toOlder, toNewer map[*Field]bool) {
		if f.Fate == DroppedOlder {
			toOlder[f.Older] = true
		}
		if f.Fate == DroppedNewer {
			toNewer[newer] = true
		}
	})
}

// Fixed returns the fields that hooks and functions fill even if there is no value, strings of bools that are false without a value, those that versions
// beyond convert them to, and the keys of bags under which versions keep them.
func (p *Plan) Fixed() (fields map[*Field]bool, keys map[string]bool) {
	keys = make(map[string]bool)
	fields = p.spread(func(f *FieldPlan, newer *Field, toOlder, toNewer map[*Field]bool) {
		isFixed := f.Fate == Converted && f.Conversion.isFixed()
		isHooks := f.Fate == AugmentedOlder && f.Older.Settings.ToNext.Fixed
		if isFixed || isHooks || f.namesFalse(newer) {
			toOlder[f.Older] = true
		}
		if newer != nil && (isFixed || f.Fate == AugmentedNewer && newer.Settings.ToOlder.Fixed || f.namesFalse(f.Older)) {
			toNewer[newer] = true
		}
		if isFixed || isHooks || toNewer[f.Older] {
			keys[f.OlderKey] = true
		}
		if isFixed || toOlder[newer] {
			keys[f.NewerKey] = true
		}
	})
	delete(keys, "")
	return fields, keys
}

// spread returns the fields that a function marks, and those that versions beyond convert them to: marks of one map spread to older versions, and
// those of the other one to newer versions.
func (p *Plan) spread(mark func(f *FieldPlan, newer *Field, toOlder, toNewer map[*Field]bool)) map[*Field]bool {
	toOlder, toNewer := make(map[*Field]bool), make(map[*Field]bool)
	for range len(p.Links) + 1 { // link by link, so that the last round marks what follows from all others
		for _, link := range p.Links {
			for _, pair := range link.Pairs {
				for _, each := range pair.Fields {
					newer := each.newerField()
					if each.Fate == Converted && toOlder[newer] {
						toOlder[each.Older] = true
					}
					if each.Fate == Converted && newer != nil && toNewer[each.Older] {
						toNewer[newer] = true
					}
					mark(each, newer, toOlder, toNewer)
				}
			}
		}
	}
	maps.Copy(toOlder, toNewer)
	return toOlder
}

// newerField is the field of the newer version, or nil if only the older version or a struct of another module has it.
func (f *FieldPlan) newerField() *Field {
	if f.Newer == nil {
		return nil
	}
	return f.Newer.Last().Field
}

func (c *Conversion) isFixed() bool {
	c = c.Innermost()
	return c.Functions != nil && c.Functions.Fixed != "" || c.Pair != nil && c.Pair.Functions != nil && c.Pair.Functions.Fixed != ""
}

// namesFalse reports whether a field of either version is a bool that JSON always shows, and becomes a string of an enum.
func (f *FieldPlan) namesFalse(field *Field) bool {
	if f.Fate != Converted || field == nil {
		return false
	}
	enum := f.Conversion.Innermost().Enum
	return enum != nil && enum.IsMixed() && field.IsRequired() && isBool(field.API.Type.Base())
}
