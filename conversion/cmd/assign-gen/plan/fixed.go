/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

// Fixed returns the fields that hooks and functions fill even if there is no value, strings of bools that are false without a value, those that versions
// beyond convert them to, and the keys of bags under which versions keep them.
func (p *Plan) Fixed() (fields map[*Field]bool, keys map[string]bool) {
	fields, keys = make(map[*Field]bool), make(map[string]bool)
	onTheWayUp, onTheWayDown := make(map[*Field]bool), make(map[*Field]bool)
	for range p.Links { // a field filled at one link exists in the versions beyond it, link by link
		for _, link := range p.Links {
			for _, pair := range link.Pairs {
				for _, each := range pair.Fields {
					each.fixed(onTheWayUp, onTheWayDown, keys)
				}
			}
		}
	}
	for _, way := range []map[*Field]bool{onTheWayUp, onTheWayDown} {
		for field := range way {
			fields[field] = true
		}
	}
	return fields, keys
}

func (f *FieldPlan) fixed(up, down map[*Field]bool, keys map[string]bool) {
	var newer *Field
	if f.Newer != nil {
		newer = f.Newer.Last().Field
	}
	switch {
	case f.Fate == AugmentedOlder && f.Older.Settings.ToNext.Fixed:
		down[f.Older] = true
	case f.Fate == AugmentedNewer && newer.Settings.ToOlder.Fixed:
		up[newer] = true
	case f.Fate == Converted && f.Conversion.isFixed():
		down[f.Older] = true
		if newer != nil {
			up[newer] = true
		}
		keys[f.OlderKey], keys[f.NewerKey] = true, true
	case f.Fate == Converted && newer != nil && f.namesFalse(f.Older):
		up[newer] = true
	case f.Fate == Converted && newer != nil && f.namesFalse(newer):
		down[f.Older] = true
	case f.Fate == Converted && newer != nil && up[f.Older]:
		up[newer] = true
	case f.Fate == Converted && newer != nil && down[newer]:
		down[f.Older] = true
	}
	delete(keys, "")
	if up[f.Older] && f.OlderKey != "" {
		keys[f.OlderKey] = true
	}
	if down[newer] && f.NewerKey != "" {
		keys[f.NewerKey] = true
	}
}

// isFixed reports whether functions make something of empty values.
func (c *Conversion) isFixed() bool {
	for ; c != nil; c = c.Elem {
		if c.Functions != nil && c.Functions.Fixed != "" || c.Pair != nil && c.Pair.Functions != nil && c.Pair.Functions.Fixed != "" {
			return true
		}
	}
	return false
}

// namesFalse reports whether a field is a bool that JSON always shows, and becomes a string of an enum.
func (f *FieldPlan) namesFalse(field *Field) bool {
	c := f.Conversion
	for c.Elem != nil {
		c = c.Elem
	}
	return c.Enum != nil && c.Enum.IsMixed() && field.IsRequired() && isBool(field.API.Type.Base())
}
