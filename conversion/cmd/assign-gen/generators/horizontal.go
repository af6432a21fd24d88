/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// flow is one direction across a link.
type flow struct {
	link *plan.Link
	pair *plan.Pair
	up   bool
}

// source and target are the names of the variables; in a method of the older type the receiver is either.
func (f flow) source() string { return choose(f.up, "in", "src") }
func (f flow) target() string { return choose(f.up, "dst", "in") }

// versions names both versions in the direction of the flow.
func (f flow) versions() (from, to string) {
	if f.up {
		return f.link.Older.Name, f.link.Newer.Name
	}
	return f.link.Newer.Name, f.link.Older.Name
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// horizontal prints the conversions between the storage types of a version and those of the next.
func horizontal(link *plan.Link) []section {
	keys, enums := keyNames(link), enumNames(link)
	var sections []section
	add := func(owner *plan.Struct, write func(p *printer)) {
		sections = append(sections, section{owner, func(p *printer) {
			p.keys, p.enumNames = keys, enums
			write(p)
		}})
	}
	add(nil, (*printer).bagKeys)
	for _, pair := range link.Pairs {
		add(pair.Older, func(p *printer) {
			p.assignable(link, pair)
			p.assignment(flow{link: link, pair: pair, up: true})
			p.assignment(flow{link: link, pair: pair})
		})
	}
	for _, pair := range link.Pairs {
		add(pair.Older, func(p *printer) { p.enums(pair) })
	}
	return sections
}

func (p *printer) assignable(link *plan.Link, pair *plan.Pair) {
	newer := p.name(link.Newer.StoragePath(), pair.Newer.Name)
	p.linef("// %s is implemented by %s if its conversion is augmented.", assignableName(pair), pair.Older.Name)
	p.linef("type %s interface {", assignableName(pair))
	metadata := p.metadataParameter(pair.Older.Settings.Metadata)
	p.linef("AssignPropertiesTo%s(dst *%s%s) error", pair.Suffix(), newer, metadata)
	p.linef("AssignPropertiesFrom%s(src *%s%s) error", pair.Suffix(), newer, metadata)
	p.end()
	if pair.Augmented {
		p.linef("var _ %s = (*%s)(nil)", assignableName(pair), pair.Older.Name)
		p.linef("")
	}
}

func assignableName(pair *plan.Pair) string { return "assignable" + pairName(pair) }

// pairName is the name of a pair in generated identifiers. It is unique within the link.
func pairName(pair *plan.Pair) string {
	if !pair.Several {
		return pair.Older.Name
	}
	name := pair.Older.Name + "To" + pair.Newer.Name
	for pair.Older.Version.Struct(name) != nil {
		name += "_"
	}
	return name
}

// assignment prints the function of one direction, in an order that hooks can rely on: what both have, what is stashed,
// the destination's bag, the hook, and then what depends on what the destination shows.
func (p *printer) assignment(f flow) {
	from, to := f.versions()
	newer := p.name(f.link.Newer.StoragePath(), f.pair.Newer.Name)
	metadata := p.metadataParameter(f.pair.TakesMetadata())
	if f.up {
		p.linef("// AssignProperties_To_%s copies the %s to %s. The two share no memory.", f.pair.Newer.Name, f.pair.Older.Name, to)
		p.linef("func (in *%s) AssignProperties_To_%s(dst *%s%s) error {", f.pair.Older.Name, f.pair.Newer.Name, newer, metadata)
		p.linef("*dst = %s{}", newer)
	} else {
		p.linef("// AssignProperties_From_%s fills the %s from %s. The two share no memory.", f.pair.Newer.Name, f.pair.Older.Name, from)
		p.linef("func (in *%s) AssignProperties_From_%s(src *%s%s) error {", f.pair.Older.Name, f.pair.Newer.Name, newer, metadata)
		p.linef("*in = %s{}", f.pair.Older.Name)
	}
	p.linef("bag := %s.PropertyBag.Clone()", f.source())
	if f.pair.Older.Root {
		p.linef("%s.ObjectMeta.DeepCopyInto(&%s.ObjectMeta)", f.source(), f.target())
	}
	if f.pair.Functions != nil {
		p.wholeAssignment(f)
	}
	for _, each := range f.pair.Fields {
		p.field(f, each)
	}
	for _, each := range f.pair.Shared {
		p.shared(f, each)
	}
	for _, each := range f.pair.Aliases {
		p.aliased(f, each)
	}
	p.linef("%s.PropertyBag = bag.OrNil()", f.target())
	p.linef("")
	p.hook(f)
	if f.pair.Functions != nil {
		p.wholeDerived(f)
	}
	for _, each := range f.pair.Fields {
		p.derived(f, each)
	}
	if f.up {
		for _, each := range f.pair.Aliases {
			p.keptAlias(f, each)
		}
	}
	p.linef("return nil")
	p.end()
}

// field prints what is done for a field before the hook.
func (p *printer) field(f flow, each *plan.FieldPlan) {
	switch each.Fate {
	case plan.Converted:
		p.converted(f, each)
	case plan.StashedOlder, plan.StashedNewer:
		p.stashed(f, each)
	case plan.AugmentedOlder, plan.AugmentedNewer, plan.DroppedOlder, plan.DroppedNewer:
	}
}

func (p *printer) converted(f flow, each *plan.FieldPlan) {
	if moves(each) {
		p.moved(f, each)
		return
	}
	older, newer := "in."+each.Older.Name(), choose(f.up, "dst", "src")+"."+each.Newer.String()
	dst, src := choose(f.up, newer, older), choose(f.up, older, newer)
	if each.Conversion.Rule == plan.OfKeys {
		p.keyed(f, each, dst, src)
		return
	}
	p.convertedInto(f, each, choose(f.up, each.NewerKey, each.OlderKey), dst, src)
}

// convertedInto prints the conversion itself. If it can lose something, the original may be in the bag.
func (p *printer) convertedInto(f flow, each *plan.FieldPlan, key, dst, src string) {
	exact := exactName(f, each)
	o := p.operation(f, each.Conversion, exact)
	isStashed := f.up && each.NewerStashed || !f.up && each.OlderStashed
	if !each.Conversion.Inexact() {
		p.copied(o, dst, src, "", 0)
		if isStashed {
			p.linef("if %s == nil {\nbag.Take(%s, &%s)\n}", src, p.keyName(key), dst)
			p.linef("bag.Remove(%s)", p.keyName(key))
		}
		return
	}
	// The value that this version showed instead of one that it does not know stands for it until a client changes it.
	p.linef("%s := true", exact)
	if isStashed {
		p.linef("bag.Adopt(%s, %s)", p.keyName(key), src)
	}
	p.linef("if %s {", p.noOriginal(f, each.Conversion.Functions, key, src, dst))
	if o.kind != applyWhole {
		p.linef("%s = nil", dst)
	}
	p.copied(o, dst, src, "", 0)
	p.linef("}")
}

// hook prints the call of the hook, which is found on the receiver in both directions.
func (p *printer) hook(f flow) {
	from, to := f.versions()
	p.linef("var self any = in")
	p.linef("if augmented, ok := self.(%s); ok {", assignableName(f.pair))
	metadata := ""
	if f.pair.Older.Settings.Metadata {
		metadata = ", " + f.metadata()
	}
	method := choose(f.up, "AssignPropertiesTo", "AssignPropertiesFrom") + f.pair.Suffix()
	p.linef("if err := augmented.%s(%s%s); err != nil {", method, choose(f.up, "dst", "src"), metadata)
	p.linef("return %s(%s, err)", p.name("fmt", "Errorf"), quoted(fmt.Sprintf("%s of %s, %s→%s: %%w", method, f.pair.Older.Name, from, to)))
	p.linef("}")
	p.linef("}")
}

// exactName is the name of the variable that reports whether a field was converted without loss.
func exactName(f flow, each *plan.FieldPlan) string {
	paths := model.Each(f.pair.Fields, func(other *plan.FieldPlan) string { return other.From.String() })
	return identifiers("exact", paths)[each.From.String()]
}
