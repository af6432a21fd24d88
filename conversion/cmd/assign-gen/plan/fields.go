/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/nearest"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// matching pairs up the fields of two structs.
type matching struct {
	*planner
	pair *Pair
	// claimed says which older field a newer path belongs to.
	claimed map[string]*Field
	// opened are newer fields that an older field leads into, so that what is in them counts field by field.
	opened map[string]bool
}

// fields plans what becomes of each field of a pair.
func (p *planner) fields(pair *Pair) {
	if pair.Functions != nil {
		p.whole(pair)
		return
	}
	m := &matching{planner: p, pair: pair, claimed: make(map[string]*Field), opened: make(map[string]bool)}
	for _, older := range pair.Older.Fields {
		if len(older.Settings.Rename) > 1 {
			m.opened[older.Settings.Rename[0]] = true
		}
	}
	for _, older := range pair.Older.Fields {
		m.older(older)
	}
	for _, newer := range pair.Newer.Fields {
		step := Step{Name: newer.Name(), Type: newer.Storage, Field: newer}
		if m.opened[newer.Name()] {
			m.inside(Path{step}, newer.Key())
			continue
		}
		if m.claimed[newer.Name()] == nil {
			m.newerOnly(Path{step}, newer.Key())
		}
	}
}

// older plans a field of the older struct.
func (m *matching) older(older *Field) {
	switch older.Settings.ToNext.Strategy {
	case markers.Augment:
		m.pair.Fields = append(m.pair.Fields, &FieldPlan{Fate: AugmentedOlder, Older: older, OlderKey: m.olderKey(older)})
		m.leftToHook(older)
		return
	case markers.Drop:
		m.pair.Fields = append(m.pair.Fields, &FieldPlan{Fate: DroppedOlder, Older: older, Reason: older.Settings.ToNext.Reason})
		return
	case markers.Stash:
		m.olderOnly(older)
		return
	}
	path, ok := m.target(older)
	switch {
	case !ok:
		return
	case older.unsupported:
		if path != nil {
			m.claimed[path.String()] = older
		}
		return
	case path == nil:
		m.olderOnly(older)
		return
	}
	if other := m.claimed[path.String()]; other != nil || (len(path) == 1 && m.opened[path[0].Name]) {
		sources := m.sourcesOf(path[0].Name)
		m.problem(problem.TwoSources, m.newerLabel(path), "more than one older field leads here: "+strings.Join(sources, ", "),
			"rename one of them, or give it another +conversion:rename, or +conversion:strategy=augment or =stash")
		return
	}
	m.claimed[path.String()] = older
	m.convert(older, path)
}

// leftToHook has a newer field of the same name be the hook's too.
func (m *matching) leftToHook(older *Field) {
	newer := m.pair.Newer.Field(older.Name())
	if newer == nil || older.Settings.Rename != nil {
		return
	}
	m.claimed[newer.Name()] = older
	m.pair.Fields = append(m.pair.Fields, &FieldPlan{
		Fate: AugmentedNewer, Newer: Path{{Name: newer.Name(), Type: newer.Storage, Field: newer}}, NewerKey: m.newerKey(newer.Key()),
	})
}

// sourcesOf are the older fields that lead to a newer field or into it.
func (m *matching) sourcesOf(newer string) []string {
	var sources []string
	for _, older := range m.pair.Older.Fields {
		target := older.Name()
		if older.Settings.Rename != nil {
			target = older.Settings.Rename[0]
		}
		if target == newer && older.Settings.ToNext.Strategy == "" {
			sources = append(sources, older.label())
		}
	}
	return sources
}

// olderOnly stashes a field that the newer version does not have.
func (m *matching) olderOnly(older *Field) {
	m.stashable(older, "+conversion:strategy")
	m.pair.Fields = append(m.pair.Fields, &FieldPlan{
		Fate: StashedOlder, Older: older, OlderKey: m.olderKey(older),
	})
}

// newerOnly stashes a field that the older version does not have, unless its marker says otherwise.
func (m *matching) newerOnly(path Path, key string) {
	result := &FieldPlan{Fate: StashedNewer, Newer: path}
	if field := path.Last().Field; field == nil {
		m.survivesJSON(m.newerLabel(path), path.Last().Type, m.pair.Newer.Version, "+conversion:strategy")
	} else {
		m.used[field.label()] = true
		if field.unsupported {
			return
		}
		switch treatment := field.Settings.ToOlder; treatment.Strategy {
		case markers.Augment:
			result.Fate, result.NewerKey = AugmentedNewer, m.newerKey(field.Key())
			m.pair.Augmented = true
		case markers.Drop:
			result.Fate, result.Reason = DroppedNewer, treatment.Reason
		case markers.Stash:
		}
		if result.Fate == StashedNewer {
			m.stashable(field, "+conversion:older")
			result.Basis = m.basis(field)
		}
	}
	if result.Fate == StashedNewer {
		result.NewerKey = m.newerKey(key)
	}
	m.pair.Fields = append(m.pair.Fields, result)
}

// basis finds the older fields that a stash holds good for.
func (m *matching) basis(field *Field) []*Field {
	var basis []*Field
	for _, name := range field.Settings.Basis {
		older := m.pair.Older.Field(name)
		if older == nil {
			m.problem(problem.NoRenameTarget, field.label(),
				fmt.Sprintf("its basis is %s, and %s has no such field%s", name, m.pair.Older.label(),
					nearest.Suggestion(name, fieldNames(m.pair.Older.Fields))),
				"correct +conversion:basis; it names fields of the older version")
			continue
		}
		if older.Settings.Sensitive {
			m.problem(problem.SensitiveStash, older.label(), "the field is sensitive, and a fingerprint of it would be kept as the basis of "+field.label(),
				"choose another +conversion:basis")
		}
		basis = append(basis, older)
	}
	return basis
}

// convert plans a field that both versions have.
func (m *matching) convert(older *Field, path Path) {
	last := path.Last()
	if last.Field != nil && last.Field.unsupported {
		return
	}
	label := older.label() + " (" + older.API.Type.String() + ") → " + m.newerLabel(path)
	newerType := last.Type.String()
	if last.Field != nil {
		newerType = last.Field.API.Type.String()
	}
	label += " (" + newerType + ")"
	if optional(last.Type) != last.Type {
		m.problem(problem.NoConversion, label, "the path leads to a value inside of a struct of another module, which cannot be absent",
			"use +conversion:strategy=augment")
		return
	}
	c := &converter{planner: m.planner, pair: m.pair, functions: older.Settings.With, unit: older.Settings.Unit}
	if older.Settings.Enum != nil {
		c.enum = m.enum(older, last.Field, label)
		if c.enum == nil {
			return
		}
		c.enum.Name += m.pair.Suffix()
	}
	conversion, reason := c.convert(older.Storage, last.Type)
	switch {
	case conversion == nil && c.reported:
		return
	case conversion == nil:
		m.problem(problem.NoConversion, label, reason,
			"convert it by functions (+conversion:with=UpFunc,DownFunc) or a hook (+conversion:strategy=augment), "+
				"or keep both apart (+conversion:strategy=stash)")
		return
	}
	if c.enum != nil && !c.enumUsed {
		m.problem(problem.BadMarker, label, "+conversion:enum stands at a field that holds no strings", "remove it")
		return
	}
	if c.unit != "" && !c.unitUsed {
		m.problem(problem.BadMarker, label, "+conversion:unit stands at a field that is not a duration in one version and a whole number in the other",
			"remove it")
		return
	}
	result := &FieldPlan{Fate: Converted, Older: older, Newer: path, Conversion: conversion}
	if conversion.Inexact() {
		result.OlderKey, result.NewerKey = m.olderKey(older), m.newerKey(m.pathKey(path))
		m.keepable(label, older, last.Field)
	}
	m.plans[older] = append(m.plans[older], result)
	m.pair.Fields = append(m.pair.Fields, result)
}

// olderKey and newerKey are the keys of a field in the bag: there a field's name belongs to a version.
func (m *matching) olderKey(older *Field) string {
	return m.pair.Older.Version.Name + "/" + older.Key()
}

func (m *matching) newerKey(name string) string { return m.pair.Newer.Version.Name + "/" + name }

// pathKey names the end of a path for the bag.
func (m *matching) pathKey(path Path) string {
	var names []string
	for i, step := range path {
		switch {
		case step.Field == nil:
			names = append(names, step.Name)
		case i > 0 || len(path) == 1 || !step.Field.API.Inline():
			names = append(names, step.Field.Key())
		}
	}
	return strings.Join(names, ".")
}

// newerLabel is how messages name a newer field.
func (m *matching) newerLabel(path Path) string {
	return m.pair.Newer.label() + "." + path.String()
}

func fieldNames(fields []*Field) []string {
	all := make([]string, len(fields))
	for i, each := range fields {
		all[i] = each.Name()
	}
	return all
}
