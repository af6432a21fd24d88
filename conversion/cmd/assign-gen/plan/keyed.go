/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// A map in one version may be a list in the other, whose elements have the keys. Elements convert as usual, except for the field that is the key. The
// bag of the version with the map keeps the order of the list, and elements that have no key or one of another element.

// orderKey follows the key of a list in the bag that keeps its order. No field is called so in JSON.
const orderKey = "$order"

// throughKeys handles a map and a list whose elements have its keys.
func throughKeys(c *converter, older, newer *model.Type) (conversion *Conversion, reason string) {
	list, elements := c.newerField, newer
	isMap := older.Kind == model.Map && newer.Kind == model.Slice
	if older.Kind == model.Slice && newer.Kind == model.Map {
		list, elements, isMap = c.olderField, older, true
	}
	if !isMap || !c.isOlder(older.Elem) || !c.isNewer(newer.Elem) {
		return nil, ""
	}
	if list == nil || (older != c.olderField.Storage || newer != c.newerField.Storage) || len(list.Settings.ListMapKeys) != 1 {
		return nil, "a list and a map need the field of the elements that is the key, such as +conversion:key=name at the list"
	}
	element := list.Struct.Version.Struct(elements.Elem.Name)
	key := model.Find(element.Fields, func(f *Field) bool { return f.Key() == list.Settings.ListMapKeys[0] })
	if key == nil { // which is reported as a wrong marker
		c.reported = true
		return nil, ""
	}
	if key.Storage.Kind != model.Pointer || !isString(key.Storage.Elem) {
		return nil, fmt.Sprintf("%s (%s) is no string, so it cannot be the key of a map", key.label(), key.API.Type)
	}
	elem, reason := callPair(c, older.Elem, newer.Elem)
	if elem == nil {
		return nil, reason
	}
	if !elem.Pair.stashes(key) {
		return nil, key.label() + " is the key of the map, and the elements of the map have the field, too"
	}
	return &Conversion{Rule: OfKeys, Older: older, Newer: newer, Elem: elem, Key: key}, ""
}

// stashes reports whether only one struct of a pair has a field, and nothing decides otherwise about it.
func (p *Pair) stashes(field *Field) bool {
	if p.Functions != nil || field.Settings.ToNext.Strategy != "" || field.Settings.ToOlder.Strategy != "" || field.Settings.Rename != nil {
		return false
	}
	if field.Struct == p.Older {
		return p.Newer.Field(field.Name()) == nil
	}
	leads := func(older *Field) bool {
		return older.Name() == field.Name() || len(older.Settings.Rename) > 0 && older.Settings.Rename[0][0] == field.Name()
	}
	return !slices.ContainsFunc(p.Older.Fields, leads)
}

// ordered names the key of the bag that keeps the order of a list, if the other version has a map.
func (m *matching) ordered(result *FieldPlan, label string) {
	if result.Conversion.Rule != OfKeys {
		return
	}
	if result.Conversion.Newer.Kind == model.Slice {
		result.NewerKey = m.newerKey(result.Newer) + orderKey
		m.keepable(label, result.Newer.Last().Field)
		return
	}
	result.OlderKey = m.olderKey(result.From) + orderKey
	m.keepable(label, result.Older)
}
