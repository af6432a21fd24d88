/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

type matching struct {
	*planner
	pair *Pair
	// claimed maps a newer path to its older field.
	claimed map[string]*Field
	// from are the paths of the older fields.
	from []Path
}

func (p *planner) fields(pair *Pair) {
	if pair.Functions != nil {
		p.whole(pair)
		return
	}
	m := &matching{planner: p, pair: pair, claimed: make(map[string]*Field)}
	m.from = m.sources()
	for _, path := range m.from {
		m.older(path)
	}
	for _, newer := range pair.Newer.Fields {
		switch path := pathOf(newer); {
		case m.leadsInto(path) && !m.isDirect(newer):
			m.inside(path)
		case m.claimed[newer.Name()] == nil:
			m.newerOnly(path)
		}
	}
}

func (m *matching) older(from Path) {
	older := from.Last().Field
	if older.Settings.Flatten {
		m.pair.Fields = append(m.pair.Fields, &FieldPlan{Fate: StashedOlder, Older: older, From: from, OlderKey: m.olderKey(from), Presence: true})
		return
	}
	if older.Settings.Alias != nil {
		m.alias(from)
		return
	}
	switch older.Settings.ToNext.Strategy {
	case markers.Augment:
		m.pair.Augmented = true
		m.pair.Fields = append(m.pair.Fields, &FieldPlan{Fate: AugmentedOlder, Older: older, From: from, OlderKey: m.olderKey(from)})
		m.leftToHook(older)
		return
	case markers.Drop:
		m.pair.Fields = append(m.pair.Fields, &FieldPlan{Fate: DroppedOlder, Older: older, From: from, Reason: older.Settings.ToNext.Reason})
		return
	case markers.Stash:
		m.olderOnly(from)
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
		m.olderOnly(from)
		return
	}
	if m.claimed[path.String()] != nil {
		sources := m.sourcesOf(path[0].Name)
		m.problem(problem.TwoSources, m.newerLabel(path), "more than one older field leads here: "+strings.Join(sources, ", "),
			"rename one of them, or give it another +conversion:rename, or +conversion:strategy=augment or =stash")
		return
	}
	m.claimed[path.String()] = older
	m.convert(from, path)
}

// leftToHook has a newer field of the same name be the hook's too.
func (m *matching) leftToHook(older *Field) {
	newer := m.pair.Newer.Field(older.Name())
	if newer == nil || older.Settings.Rename != nil {
		return
	}
	m.claimed[newer.Name()] = older
	m.used[newer.label()] = newer.Settings.ToOlder.Fixed
	m.pair.Fields = append(m.pair.Fields, &FieldPlan{
		Fate: AugmentedNewer, Newer: pathOf(newer), NewerKey: m.newerKey(pathOf(newer)),
	})
}

// sourcesOf are the older fields that lead to a newer field or into it.
func (m *matching) sourcesOf(newer string) []string {
	var sources []string
	for _, from := range m.from {
		older := from.Last().Field
		if m.targetOf(older)[0] == newer && older.Settings.IsConverted() {
			sources = append(sources, older.label())
		}
	}
	return sources
}

// olderOnly stashes a field that the newer version does not have.
func (m *matching) olderOnly(from Path) {
	m.stashable(from.Last().Field, "+conversion:strategy")
	m.pair.Fields = append(m.pair.Fields, &FieldPlan{
		Fate: StashedOlder, Older: from.Last().Field, From: from, OlderKey: m.olderKey(from),
	})
}

// newerOnly stashes a field that the older version does not have, unless its marker says otherwise.
func (m *matching) newerOnly(path Path) {
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
			result.Fate, result.NewerKey = AugmentedNewer, m.newerKey(pathOf(field))
			m.pair.Augmented = true
		case markers.Drop:
			result.Fate, result.Reason = DroppedNewer, treatment.Reason
		case markers.Stash:
		}
		if result.Fate == StashedNewer {
			m.stashable(field, "+conversion:older")
		}
	}
	if result.Fate == StashedNewer {
		result.NewerKey = m.newerKey(path)
	}
	m.pair.Fields = append(m.pair.Fields, result)
}

// convert plans a field that both versions have.
func (m *matching) convert(from, path Path) {
	conversion, label := m.conversion(from, path)
	if conversion == nil {
		return
	}
	older := from.Last().Field
	result := &FieldPlan{Fate: Converted, Older: older, From: from, Newer: path, Conversion: conversion}
	if conversion.Inexact() {
		result.OlderKey, result.NewerKey = m.olderKey(from), m.newerKey(path)
		m.keepable(label, older, path.Last().Field)
	}
	m.ordered(result, label)
	result.Undeclared = m.undeclared(result, label)
	m.plans[older] = append(m.plans[older], result)
	m.pair.Fields = append(m.pair.Fields, result)
}

// conversion finds the conversion of a field, or reports that none exists. The label names both fields in messages.
func (m *matching) conversion(from, path Path) (conversion *Conversion, label string) {
	older, last := from.Last().Field, path.Last()
	if last.Field != nil && last.Field.unsupported {
		return nil, ""
	}
	label = older.label() + " (" + older.API.Type.String() + ") → " + m.newerLabel(path)
	newerType := last.Type.String()
	if last.Field != nil {
		newerType = last.Field.API.Type.String()
	}
	label += " (" + newerType + ")"
	if optional(last.Type) != last.Type {
		m.problem(problem.NoConversion, label, "the path leads to a value inside of a struct of another module, which cannot be absent",
			"use +conversion:strategy=augment")
		return nil, ""
	}
	c := &converter{planner: m.planner, pair: m.pair, functions: older.Settings.With, unit: older.Settings.Unit}
	if len(from) == 1 && len(path) == 1 {
		c.olderField, c.newerField = older, last.Field
	}
	if settings := m.enumSettings(older); settings != nil && !settings.IsOpen() {
		m.used[enumLabel(older)] = true
		c.enum = m.enum(older, last.Field, label)
		if c.enum == nil {
			return nil, ""
		}
		c.enum.Name += m.pair.Suffix()
	}
	conversion, reason := c.convert(older.Storage, last.Type)
	switch {
	case conversion == nil && c.reported:
		return nil, ""
	case conversion == nil:
		m.noConversion(c.mismatch, label, reason)
		return nil, ""
	}
	if c.enum != nil && !c.enumUsed && older.Settings.Enum != nil {
		m.problem(problem.BadMarker, label, "+conversion:enum is at a field that holds neither strings nor bools that become strings", "remove it")
		return nil, ""
	}
	if c.unit != "" && !c.unitUsed {
		m.problem(problem.BadMarker, label, "+conversion:unit is at a field that is not a duration in one version and a whole number in the other",
			"remove it")
		return nil, ""
	}
	return conversion, label
}

// olderKey and newerKey are the keys of a field in the bag: there a field's name belongs to a version.
func (m *matching) olderKey(path Path) string { return m.pair.Older.Version.Name + "/" + path.Key() }

func (m *matching) newerKey(path Path) string { return m.pair.Newer.Version.Name + "/" + path.Key() }

// newerLabel names a newer field in messages.
func (m *matching) newerLabel(path Path) string {
	return m.pair.Newer.label() + "." + path.String()
}
