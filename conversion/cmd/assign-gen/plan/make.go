/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// Make plans the conversions between the versions of an API: of the kinds that are named, or of all. The error, if any, holds all problems
// of the input.
func Make(packages []*model.Package, webhook Interface, kinds ...string) (*Plan, error) {
	p := &planner{
		structs: make(map[*Version]map[*model.Type]*Struct),
		pairs:   make(map[*Struct][]*Pair), flat: make(map[*Struct][]*Pair), plans: make(map[*Field][]*FieldPlan),
		typeFunctions: make(map[*Version]map[string]*markers.Functions), unpaired: make(map[*Struct]bool), used: make(map[string]bool),
		typeEnums: make(map[*model.Type]*markers.Enum), enumsReported: make(map[[2]*model.Type]bool),
	}
	p.positions(packages)
	for _, each := range packages {
		borrow(each, packages)
	}
	result := p.versions(packages)
	result.Interface, result.Selected = webhook, len(kinds) > 0
	for _, version := range result.Versions {
		p.declared(version)
	}
	if p.problems.Has(problem.BrokenChain, problem.HubCount) {
		// If the order of the versions is not known, the only problems of fields that can be reported are misspelled markers.
		for _, version := range result.Versions {
			p.reach(version, func(kind *Struct) bool { return !kind.Settings.Skip })
		}
		return nil, p.problems.Err()
	}
	isConverted := p.selected(kinds)
	if p.problems.Has(problem.KindMissing) {
		return nil, p.problems.Err()
	}
	for _, version := range result.Versions {
		p.reach(version, isConverted)
	}
	p.kinds(result)
	for _, link := range result.Links {
		p.pair(link)
	}
	for _, link := range result.Links {
		p.called(link)
	}
	p.reportMismatches()
	for _, link := range result.Links {
		for _, pair := range link.Pairs {
			p.shared(pair)
			p.others(pair)
			p.sameJSON(pair)
			slices.SortFunc(pair.Fields, func(a, b *FieldPlan) int {
				return cmp.Or(cmp.Compare(a.newerName(), b.newerName()), cmp.Compare(a.olderName(), b.olderName()))
			})
		}
	}
	p.metadata(result)
	neverAbsent(result)
	p.identities(result)
	p.unused(result)
	p.collisions(result)
	if err := p.problems.Err(); err != nil {
		return nil, err
	}
	return result, nil
}

// called plans the fields of those pairs that conversions of kinds lead to. Only hand-written code can call the others: such a pair is
// forgotten if it has a problem. A struct whose fields are converted one by one for the struct around it may be in one.
func (p *planner) called(link *Link) {
	var reached []*Pair
	reach := func(pair *Pair) {
		if !slices.Contains(reached, pair) {
			reached = append(reached, pair)
		}
	}
	for _, pair := range link.Pairs {
		if pair.Older.Root {
			reach(pair)
		}
	}
	for i := 0; i < len(reached); i++ { //nolint:intrange // it grows
		p.fields(reached[i])
		for _, other := range reached[i].called() {
			reach(other)
		}
	}
	link.Pairs = slices.DeleteFunc(link.Pairs, func(pair *Pair) bool { return !slices.Contains(reached, pair) && !p.isPossible(pair) })
	// What calls a pair that is left out is left out, too.
	for before := 0; before != len(link.Pairs); {
		before = len(link.Pairs)
		kept := slices.Clone(link.Pairs)
		link.Pairs = slices.DeleteFunc(link.Pairs, func(pair *Pair) bool {
			isLeftOut := func(other *Pair) bool { return !slices.Contains(kept, other) }
			if slices.Contains(reached, pair) || !slices.ContainsFunc(pair.called(), isLeftOut) {
				return false
			}
			p.forget(pair)
			return true
		})
	}
}

// called returns the pairs whose functions the conversion of a pair calls.
func (p *Pair) called() (pairs []*Pair) {
	for _, each := range p.Fields {
		if each.Fate == Converted {
			pairs = append(pairs, each.Conversion.Called())
		}
	}
	for _, each := range p.Aliases {
		pairs = append(pairs, each.Conversion.Called())
	}
	return slices.DeleteFunc(pairs, func(pair *Pair) bool { return pair == nil })
}

// forget removes the plans of the fields of a pair.
func (p *planner) forget(pair *Pair) {
	for _, each := range pair.Fields {
		if each.Older != nil {
			p.plans[each.Older] = slices.DeleteFunc(p.plans[each.Older], func(other *FieldPlan) bool { return other == each })
		}
	}
}

// isPossible plans the fields of a pair, and reports whether that has no problem. Otherwise it leaves no trace.
func (p *planner) isPossible(pair *Pair) bool {
	problems, mismatches := p.problems, p.mismatches
	unpaired, reported, used := maps.Clone(p.unpaired), maps.Clone(p.enumsReported), maps.Clone(p.used)
	p.fields(pair)
	p.sameJSON(pair)
	if p.problems.Len() == problems.Len() && len(p.mismatches) == len(mismatches) {
		return true
	}
	p.problems, p.mismatches = problems, mismatches
	p.unpaired, p.enumsReported, p.used = unpaired, reported, used
	p.forget(pair)
	return false
}

// planner holds what is known while planning.
type planner struct {
	problems problem.List
	// structs are all structs that versions declare or borrow.
	structs map[*Version]map[*model.Type]*Struct
	// pairs are by the older struct.
	pairs map[*Struct][]*Pair
	// flat are the pairs that the fields of an older struct belong to because it is flattened.
	flat map[*Struct][]*Pair
	// plans are by the older field, of those fields that are converted.
	plans map[*Field][]*FieldPlan
	// typeFunctions are by the names of types of other modules that the older version uses.
	typeFunctions map[*Version]map[string]*markers.Functions
	// typeEnums are the enum maps at types, enumsReported the pairs of types whose values are reported to differ.
	typeEnums     map[*model.Type]*markers.Enum
	enumsReported map[[2]*model.Type]bool
	// mismatches are in the order in which they were found.
	mismatches []*mismatch
	// unpaired are the older structs of which it is reported that they have no counterpart.
	unpaired map[*Struct]bool
	// used are the fields, by their labels, whose markers about the older version have an effect.
	used map[string]bool
}

func (p *planner) problem(code problem.Code, where, text, fix string) {
	p.problems.Add(problem.Problem{Code: code, Where: where, Text: text, Fix: fix})
}

// newerName is the key by which a plan is sorted: the path in the newer struct, or the name of a field that only the older has.
func (f *FieldPlan) newerName() string {
	if f.Newer != nil {
		return f.Newer.String()
	}
	return f.From.String()
}

func (f *FieldPlan) olderName() string {
	return f.From.String()
}
