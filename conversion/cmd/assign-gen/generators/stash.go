/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

func (p *printer) stashedNewer(f flow, each *plan.FieldPlan) {
	key, basis := p.keyName(each.NewerKey), basisOf(each)
	switch {
	case each.Presence:
		p.stashedPresence(f, each)
	case len(each.Newer) > 1:
		p.stashedInside(f, each)
	case !f.up && basis == "":
		p.put(f, each.NewerKey, "src."+each.Newer.String())
	case !f.up: // after the hook, when the basis is known
		p.linef("bag.Remove(%s)", key)
	case basis == "":
		p.linef("bag.Take(%s, &dst.%s)", key, each.Newer)
	default:
		p.linef("if bag.TakeDerived(%s, %s, &dst.%s) != %s {", key, basis, each.Newer, p.runtime("Exact"))
		p.linef("dst.%s = nil", each.Newer)
		p.linef("}")
	}
}

// stashedInside stashes a part of a struct of which other parts have a field of their own in the older version.
func (p *printer) stashedInside(f flow, each *plan.FieldPlan) {
	key := p.keyName(each.NewerKey)
	if f.up {
		variable := stashedName(f, each)
		p.linef("var %s %s", variable, p.storage(each.Newer.Last().Type))
		p.linef("if bag.Take(%s, &%s) {", key, variable)
		p.entered("dst", each.Newer)
		p.linef("dst.%s = %s", each.Newer, variable)
		p.linef("}")
		return
	}
	p.linef("if %s {", present("src", each.Newer, nilable(each.Newer.Last().Type)))
	p.put(f, each.NewerKey, "src."+each.Newer.String())
	p.linef("} else {")
	p.linef("bag.Remove(%s)", key)
	p.linef("}")
}

// stashedPresence stashes the bag of a struct whose fields the older version has elsewhere, and one with nothing in it, which
// these fields would not tell from none.
func (p *printer) stashedPresence(f flow, each *plan.FieldPlan) {
	key, own := p.keyName(each.NewerKey), p.isOwn(each.Newer.Last().Type)
	if f.up {
		variable := stashedName(f, each)
		p.linef("var %s %s", variable, p.runtime("PropertyBag"))
		p.linef("if bag.Take(%s, &%s) {", key, variable)
		p.entered("dst", append(slices.Clone(each.Newer), plan.Step{}))
		if own {
			p.linef("dst.%s.PropertyBag = %s.OrNil()", each.Newer, variable)
		}
		p.linef("}")
		return
	}
	there := present("src", each.Newer, true)
	empty := p.runtime("IsZero") + "(src." + each.Newer.String() + ")"
	bag := p.runtime("PropertyBag") + "{}"
	if own {
		bag = "src." + each.Newer.String() + ".PropertyBag"
		empty = "(len(" + bag + ") > 0 || " + empty + ")"
	}
	p.linef("if %s && %s {", there, empty)
	p.put(f, each.NewerKey, bag)
	p.linef("} else {")
	p.linef("bag.Remove(%s)", key)
	p.linef("}")
}

// isOwn says whether a struct, or a pointer to one, is declared by a version of the API.
func (p *printer) isOwn(t *model.Type) bool {
	if t.Kind == model.Pointer {
		t = t.Elem
	}
	return p.versions[t.Package] != nil
}

// entered makes the structs on a path.
func (p *printer) entered(root string, path plan.Path) {
	for i, step := range path[:len(path)-1] {
		expression := root + "." + path[:i+1].String()
		if step.Type.Kind == model.Pointer {
			p.linef("if %s == nil {", expression)
			p.linef("%s = new(%s)", expression, p.storage(step.Type.Elem))
			p.linef("}")
		}
	}
}

// present is a condition that holds if the structs on a path are there, and its end too if that can be nil.
func present(root string, path plan.Path, end bool) string {
	var conditions []string
	for i, step := range path {
		expression := root + "." + path[:i+1].String()
		if (i < len(path)-1 && step.Type.Kind == model.Pointer) || (i == len(path)-1 && end) {
			conditions = append(conditions, expression+" != nil")
		}
	}
	return strings.Join(conditions, " && ")
}

func (p *printer) put(f flow, key, value string) {
	from, to := f.versions()
	p.linef("if err := bag.Put(%s, %s); err != nil {", p.keyName(key), value)
	p.linef("return %s(%s, err)", p.name("fmt", "Errorf"), quoted(fmt.Sprintf("converting %s of %s to %s: %%w", f.pair.Older.Name, from, to)))
	p.linef("}")
}

// derived prints what is stashed after the hook: values that hold good only for what the destination shows now.
func (p *printer) derived(f flow, each *plan.FieldPlan) {
	switch {
	case each.Fate == plan.StashedNewer && basisOf(each) != "" && !f.up:
		p.putDerived(f, each.NewerKey, "src."+each.Newer.String(), basisOf(each))
	case each.Fate == plan.Converted && each.Conversion.Inexact():
		p.linef("if !%s {", exactName(each))
		switch {
		case f.up && len(each.Newer) > 1:
			part := insideName(f, each)
			p.linef("if %s = nil; %s {\n%s = dst.%s\n}", part, present("dst", each.Newer, false), part, each.Newer)
			p.putDerived(f, each.OlderKey, "in."+each.Older.Name(), part)
		case f.up:
			p.putDerived(f, each.OlderKey, "in."+each.Older.Name(), "dst."+each.Newer.String())
		default:
			p.putDerived(f, each.NewerKey, "src."+each.Newer.String(), "in."+each.Older.Name())
		}
		p.linef("}")
	}
}

func (p *printer) putDerived(f flow, key, value, basis string) {
	from, to := f.versions()
	p.linef("if err := %s.PropertyBag.PutDerived(%s, %s, %s); err != nil {", f.target(), p.keyName(key), value, basis)
	p.linef("return %s(%s, err)", p.name("fmt", "Errorf"), quoted(fmt.Sprintf("converting %s of %s to %s: %%w", f.pair.Older.Name, from, to)))
	p.linef("}")
}

// basisOf is the expression of what a stash holds good for, in either direction: the older struct is the receiver.
func basisOf(each *plan.FieldPlan) string {
	var fields []string
	for _, field := range each.Basis {
		fields = append(fields, "in."+field.Name())
	}
	switch len(fields) {
	case 0:
		return ""
	case 1:
		return fields[0]
	default:
		return "[]any{" + strings.Join(fields, ", ") + "}"
	}
}

// keyName is the constant of a bag key.
func (p *printer) keyName(key string) string { return p.keys[key] }

// stashedName is the variable that a part of the newer struct is taken out of the bag into.
func stashedName(f flow, each *plan.FieldPlan) string { return pathVariable("stashed", f, each) }

// insideName is the variable of a part of the newer struct that may not be there.
func insideName(f flow, each *plan.FieldPlan) string { return pathVariable("part", f, each) }

// pathVariable is the variable for the field at the end of a path. It is unique within the pair.
func pathVariable(prefix string, f flow, each *plan.FieldPlan) string {
	var paths []string
	for _, other := range f.pair.Fields {
		paths = append(paths, other.Newer.String())
	}
	return identifiers(prefix, paths)[each.Newer.String()]
}

// keyNames chooses the constants of all keys, also of those fields that are left to hooks.
func keyNames(link *plan.Link) map[string]string {
	var keys []string
	for _, pair := range link.Pairs {
		if pair.Functions != nil {
			keys = append(keys, pair.OlderKey(), pair.NewerKey())
		}
		for _, each := range pair.Fields {
			for _, key := range []string{each.OlderKey, each.NewerKey} {
				if key != "" {
					keys = append(keys, key)
				}
			}
		}
	}
	return identifiers("bag", keys)
}

// bagKeys prints the constants of keys.
func (p *printer) bagKeys() {
	if len(p.keys) == 0 {
		return
	}
	var lines []string
	for key, name := range p.keys {
		lines = append(lines, fmt.Sprintf("%s = %s", name, quoted(key)))
	}
	slices.Sort(lines)
	p.linef("// Keys of what is stashed in bags. They stay what they are for as long as objects carry them.")
	p.linef("const (\n%s\n)", strings.Join(lines, "\n"))
	p.linef("")
}
