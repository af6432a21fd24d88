/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// Enum maps the values of an enum in both directions. Values in neither list stay what they are.
type Enum struct {
	// Name is the older struct and field, "Struct.Field".
	Name string
	// OlderBool and NewerBool report whether the values of a version are false and true, and no strings.
	OlderBool, NewerBool bool
	// Up maps older values, Down newer ones, both sorted by From.
	Up, Down []EnumCase
	// Fallback is the older value for all other newer values, or empty if these pass unchanged.
	Fallback string
	// Kept are values that pass down unchanged although there is a fallback: both versions have them, and the empty one.
	Kept []string
}

// IsMixed reports whether one version has strings and the other one bools.
func (e *Enum) IsMixed() bool { return e.OlderBool != e.NewerBool }

// Values returns the values that tests give to the fields, sorted: strings of both versions, since those of the other one are wrong.
func (e *Enum) Values() (older, newer []string) {
	for _, each := range e.Up {
		older = append(older, each.From)
	}
	for _, each := range e.Down {
		newer = append(newer, each.From)
	}
	if !e.IsMixed() {
		older = slices.Concat(older, newer)
		if older == nil { // nothing but a fallback
			older = e.Kept
		}
		newer = older
	}
	return sorted(older), sorted(newer)
}

func sorted(values []string) []string { return slices.Compact(slices.Sorted(slices.Values(values))) }

// EnumCase maps one value.
type EnumCase struct {
	From, To string
	// Exact reports whether the conversion back results in the same value.
	Exact bool
}

// enumSettings are those of the marker of a field, or of its type, unless functions convert the field.
func (p *planner) enumSettings(field *Field) *markers.Enum {
	if field.Settings.Enum != nil || field.Settings.With != nil {
		return field.Settings.Enum
	}
	return p.typeEnums[declaredElement(field)]
}

// valuesOfOneVersion returns the values that only one of two fields declares, if both declare any.
func valuesOfOneVersion(older, newer *Field) (onlyOlder, onlyNewer []string) {
	olderValues, newerValues := constants(older), constants(newer)
	if olderValues == nil || newerValues == nil || !isString(elementary(older)) || !isString(elementary(newer)) {
		return nil, nil
	}
	missingIn := func(other []string) func(string) bool {
		return func(value string) bool { return value == "" || slices.Contains(other, value) }
	}
	return slices.DeleteFunc(slices.Clone(olderValues), missingIn(newerValues)), slices.DeleteFunc(slices.Clone(newerValues), missingIn(olderValues))
}

// undeclared returns the values of a field that only one version declares and that pass unchanged. To clients of the other version they are
// invalid, so that it is a problem if no marker allows that. It is reported once for two types.
func (m *matching) undeclared(each *FieldPlan, label string) []string {
	older, newer := each.Older, each.Newer.Last().Field
	settings := m.enumSettings(older)
	if newer == nil || !each.Conversion.copiesText() || (settings != nil && !settings.IsOpen()) {
		return nil
	}
	onlyOlder, onlyNewer := valuesOfOneVersion(older, newer)
	all := sorted(slices.Concat(onlyOlder, onlyNewer))
	types := [2]*model.Type{declaredElement(older), declaredElement(newer)}
	switch {
	case settings != nil && len(all) > 0:
		m.used[enumLabel(older)] = true
		return all
	case older.Settings.Enum != nil:
		m.problem(problem.BadMarker, label, "both versions declare the same values, or one of them none, so that +conversion:enum=open means nothing",
			"remove it")
		return nil
	case len(all) == 0 || m.enumsReported[types]:
		return nil
	}
	m.enumsReported[types] = types[0].Kind == model.Named
	if len(onlyNewer) > 0 {
		m.problem(problem.EnumNotInvertible, label, noValues(onlyNewer, "older", "there is no fallback for it", "there is no fallback for them"),
			"add +conversion:enum=fallback=OLD to the field or its type, or "+openFix)
	}
	if len(onlyOlder) > 0 {
		m.problem(problem.EnumNotInvertible, label, noValues(onlyOlder, "newer", "is not mapped to one", "are not mapped to any"),
			fmt.Sprintf("add +conversion:enum=%s:NEW to the field or its type, or %s", onlyOlder[0], openFix))
	}
	return nil
}

// noValues states that a version does not have the values, with the end of the sentence for one and for several.
func noValues(values []string, version, one, several string) string {
	if len(values) == 1 {
		return fmt.Sprintf("%q is no value of the %s version, and %s", values[0], version, one)
	}
	return fmt.Sprintf("%s are no values of the %s version, and %s", strings.Join(model.Each(values, strconv.Quote), ", "), version, several)
}

// enumLabel names the type of a field in the planner's notes about used markers.
func enumLabel(field *Field) string { return "enum " + declaredElement(field).String() }

func (p *planner) unusedEnums(version *Version) {
	for _, declared := range version.Package.Types {
		if p.typeEnums[declared] != nil && !p.used["enum "+declared.String()] {
			p.problem(problem.BadMarker, where(version.Package)+"."+declared.Name, "no field with this type has other values in the next version",
				"remove +conversion:enum")
		}
	}
}

const openFix = "+conversion:enum=open if clients of both versions accept any value"

// enumValues are the values that the map of a field names, and those that stay themselves although others become them, too. A map at a type may name
// values that only other fields with the type have.
func enumValues(field *Field, settings *markers.Enum) []markers.EnumValue {
	named := slices.Clone(settings.Values)
	if field.Settings.Enum == nil {
		named = slices.DeleteFunc(named, func(each markers.EnumValue) bool {
			return !slices.Contains(constants(field), each.Older) && slices.Contains(declaredElement(field).Values(), each.Older)
		})
	}
	all := named
	for _, each := range named {
		stays := markers.EnumValue{Older: each.Newer, Newer: each.Newer}
		isNamed := slices.ContainsFunc(all, func(other markers.EnumValue) bool { return other.Older == stays.Older })
		if slices.Contains(constants(field), stays.Older) && !isNamed {
			all = append(all, stays)
		}
	}
	return all
}

// enum plans the map of an enum, or reports the problem that prevents it.
func (p *planner) enum(older, newer *Field, label string) *Enum {
	settings := p.enumSettings(older)
	olderValues, newerValues := constants(older), constants(newer)
	failed := false
	fail := func(code problem.Code, text, fix string) {
		failed = true
		p.problem(code, label, text, fix)
	}
	unknown := func(value, side string, values []string) {
		fail(problem.BadMarker, fmt.Sprintf("the enum map has the %s value %q, which the type does not declare%s", side, value,
			problem.Suggestion(value, values)), "values are "+strings.Join(values, ", "))
	}
	result := &Enum{
		Name: older.Struct.Name + "." + older.Name(), Fallback: settings.Fallback, OlderBool: isBool(elementary(older)), NewerBool: isBool(elementary(newer)),
	}
	sources := make(map[string][]string)
	for _, each := range enumValues(older, settings) {
		if len(olderValues) > 0 && !slices.Contains(olderValues, each.Older) {
			unknown(each.Older, "older", olderValues)
		}
		if len(newerValues) > 0 && !slices.Contains(newerValues, each.Newer) {
			unknown(each.Newer, "newer", newerValues)
		}
		result.Up = append(result.Up, EnumCase{From: each.Older, To: each.Newer})
		sources[each.Newer] = append(sources[each.Newer], each.Older)
	}
	if result.Fallback != "" && len(olderValues) > 0 && !slices.Contains(olderValues, result.Fallback) {
		unknown(result.Fallback, "older", olderValues)
	}
	notInvertible := func(text, fallback string) {
		fail(problem.EnumNotInvertible, text, "add fallback="+fallback+" to +conversion:enum, or map each value to a different one")
	}
	for newerValue, olders := range sources {
		back := olders[0]
		if len(olders) > 1 {
			if !slices.Contains(olders, result.Fallback) {
				notInvertible(fmt.Sprintf("%s all become %q, and no fallback selects one for the way back", strings.Join(olders, ", "), newerValue),
					strings.Join(olders, " or "))
			}
			back = result.Fallback
		}
		result.Down = append(result.Down, EnumCase{From: newerValue, To: back, Exact: true})
	}
	for _, value := range newerValues {
		if sources[value] == nil && !slices.Contains(olderValues, value) && result.Fallback == "" && !settings.Open {
			notInvertible(fmt.Sprintf("%q is no value of the older version, and there is no fallback for it", value), "OLD")
		}
	}
	onlyOlder, _ := valuesOfOneVersion(older, newer)
	for _, value := range onlyOlder {
		if at(result.Up, value) < 0 && !settings.Open {
			fail(problem.EnumNotInvertible, fmt.Sprintf("%q is no value of the newer version, and is not mapped to one", value),
				"map it, or add open to +conversion:enum if clients of both versions accept any value")
		}
	}
	for _, value := range olderValues {
		isMapped := slices.ContainsFunc(settings.Values, func(v markers.EnumValue) bool { return v.Older == value })
		if result.IsMixed() && !isMapped {
			fail(problem.EnumNotInvertible, fmt.Sprintf("%q becomes no value of the newer version", value), "map it")
		}
	}
	if failed {
		return nil
	}
	result.finish(olderValues)
	return result
}

// finish adds what follows from the pairs, and finds out which way back leads to the same value.
func (e *Enum) finish(olderValues []string) {
	for i := range e.Up {
		e.Up[i].Exact = e.Down[at(e.Down, e.Up[i].To)].To == e.Up[i].From
	}
	byFrom := func(a, b EnumCase) int { return strings.Compare(a.From, b.From) }
	defer func() {
		slices.SortFunc(e.Up, byFrom)
		slices.SortFunc(e.Down, byFrom)
		slices.Sort(e.Kept)
	}()
	if e.IsMixed() {
		return // no value is one of both versions
	}
	pairs := slices.Clone(e.Up)
	// A value that no pair maps, and that is spelt like one of the other version's, becomes another on its way back.
	for _, each := range e.Down {
		if at(pairs, each.From) < 0 {
			e.Up = append(e.Up, EnumCase{From: each.From, To: each.From})
		}
	}
	if e.Fallback == "" {
		for _, each := range pairs {
			if at(e.Down, each.From) < 0 {
				e.Down = append(e.Down, EnumCase{From: each.From, To: each.From})
			}
		}
	}
	for _, value := range append([]string{""}, olderValues...) {
		if at(e.Up, value) < 0 && at(e.Down, value) < 0 {
			e.Kept = append(e.Kept, value)
		}
	}
}

func at(cases []EnumCase, from string) int {
	return slices.IndexFunc(cases, func(c EnumCase) bool { return c.From == from })
}

// constants are the values that the type of an enum declares, sorted.
func constants(field *Field) []string {
	if field == nil {
		return nil
	}
	if isBool(elementary(field)) {
		return []string{"false", "true"}
	}
	return field.API.Values()
}

// declaredElement is the type of what a field holds, in lists, too.
func declaredElement(field *Field) *model.Type { return field.API.Type.Innermost() }

// elementary is declaredElement without its name. It is no type for a field of a struct of another module.
func elementary(field *Field) *model.Type {
	if field == nil {
		return &model.Type{}
	}
	return declaredElement(field).Base()
}
