/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// A released version often has two fields for one thing, of which the older one is deprecated, such as timeout and timeouts.pipeline. The next
// version has one of them. It shows the value of the deprecated field if the other one is absent.

// Alias is a field of the older struct that is another name of a second one.
type Alias struct {
	Older *Field
	// Newer leads to the field that shows the alias, Conversion converts the alias to it.
	Newer      Path
	Conversion *Conversion
	// Other leads to the older field that becomes the newer one as well.
	Other Path
	// OlderKey is the key in the bag of the alias, ShownKey that of the number of structs around the other field, if the newer field
	// shows the alias.
	OlderKey, ShownKey string
}

func (m *matching) alias(from Path) {
	older := from.Last().Field
	if len(from) > 1 {
		m.problem(problem.BadMarker, older.label(), "the marker +conversion:alias is at a field of a struct that is flattened",
			"use a hook, or remove +conversion:flatten")
		return
	}
	m.stashable(older, "+conversion:strategy")
	path, ok := m.follow(older, older.Settings.Alias, "alias")
	switch {
	case !ok:
		return
	case path == nil:
		m.olderOnly(from)
		return
	}
	conversion, _ := m.conversion(from, path)
	if conversion == nil {
		return
	}
	key := m.olderKey(from)
	m.pair.Aliases = append(m.pair.Aliases, &Alias{Older: older, Newer: path, Conversion: conversion, OlderKey: key, ShownKey: key + ".shown"})
}

// others finds the fields that a pair's aliases stand for.
func (p *planner) others(pair *Pair) {
	for _, each := range pair.Aliases {
		other, reason := pair.other(each.Newer)
		if reason != "" {
			p.problem(problem.NoConversion, each.Older.label()+" → "+pair.Newer.label()+"."+each.Newer.String(), reason,
				"use +conversion:rename, or a hook (+conversion:strategy=augment)")
		}
		each.Other = other
	}
}

// other returns the path to the older field that becomes the one at the end of a newer path, or the reason for which no such field exists.
func (p *Pair) other(newer Path) (older Path, reason string) {
	at := p
	for i, step := range newer {
		rest := newer[i:].String()
		end := at.direct(rest)
		if end != nil && end.Conversion.Inexact() {
			return nil, end.Older.label() + " becomes this field as well, and not every value of it is shown"
		}
		if end != nil {
			return append(older, end.From...), ""
		}
		next := at.direct(step.Name)
		if next == nil || next.Conversion.Rule != OfPointer || next.Conversion.Elem.Rule != Call || next.Conversion.Elem.Pair.Functions != nil {
			break
		}
		older, at = append(older, next.From...), next.Conversion.Elem.Pair
	}
	return nil, "no other field becomes this one, so that the field is no alias"
}
