/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"strconv"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// moves reports whether a field is inside of another struct in one of the versions.
func moves(each *plan.FieldPlan) bool { return len(each.From) > 1 || len(each.Newer) > 1 }

// moved prints the conversion of such a field. Variables stand for what may be absent with the struct around it.
func (p *printer) moved(f flow, each *plan.FieldPlan) {
	from, to, key, target := each.From, each.Newer, each.NewerKey, each.Conversion.Newer
	if !f.up {
		from, to, key, target = each.Newer, each.From, each.OlderKey, each.Conversion.Older
	}
	src, dst := p.shown(f, "shown", f.source(), from), f.target()+"."+to.String()
	if len(to) > 1 {
		dst = p.pathName(f, "moved", to)
		p.linef("var %s %s", dst, p.storage(target))
	}
	p.convertedInto(f, each, key, dst, src)
	if len(to) == 1 {
		return
	}
	p.linef("if %s != nil {", dst)
	p.entered(f.target(), to)
	p.linef("%s.%s = %s", f.target(), to, dst)
	p.linef("}")
}

// shown is an expression of the value at the end of a path, nil if a struct on the way is absent. The prefix is that of a variable.
func (p *printer) shown(f flow, prefix, root string, path plan.Path) string {
	value := root + "." + path.String()
	if len(path) == 1 {
		return value
	}
	variable := p.pathName(f, prefix, path)
	p.linef("var %s %s", variable, p.storage(path.Last().Type))
	p.linef("if %s {\n%s = %s\n}", present(root, path, false), variable, value)
	return variable
}

// shared prints what is done for a struct of both versions after fields that the older version has elsewhere: its conversion to
// the older version has kept these again, and created a struct in which nothing else may be.
func (p *printer) shared(f flow, each *plan.Shared) {
	anyMoved := strings.Join(model.Each(each.Fields, func(f *plan.FieldPlan) string { return present("in", f.From, true) }), " || ")
	if f.up {
		p.linef("if %s {\nswitch {", anyMoved)
		for depth := len(each.Older); depth > 0; depth-- {
			at := each.Older[:depth]
			p.linef("case %s && %s(in.%s):", present("in", at, true), p.runtime("IsZero"), at)
			p.put(f, each.OlderKey, strconv.Itoa(depth))
		}
		p.linef("}\n}")
		return
	}
	kept, bag := p.pathName(f, "kept", each.Older), "in."+each.Older.String()+".PropertyBag"
	p.linef("var %s int", kept)
	p.linef("bag.Take(%s, &%s)", p.keyName(each.OlderKey), kept)
	p.linef("if %s {", present("in", each.Older, true))
	for _, key := range each.NewerKeys {
		p.linef("%s.Remove(%s)", bag, p.keyName(key))
	}
	p.linef("%s = %s.OrNil()", bag, bag)
	p.linef("}\nif %s {", anyMoved)
	p.pruned(each.Older, kept)
	p.linef("}")
}

// pruned removes the structs on a path of the older version that are empty, except for those that existed before; the variable kept holds
// their number.
func (p *printer) pruned(path plan.Path, kept string) {
	for depth := len(path); depth > 0; depth-- {
		at := path[:depth]
		p.linef("if %s < %d && %s && %s(in.%s) {\nin.%s = nil\n}", kept, depth, present("in", at, true), p.runtime("IsZero"), at, at)
	}
}

func (p *printer) pathName(f flow, prefix string, path plan.Path) string {
	var paths []string
	for _, each := range f.pair.Fields {
		paths = append(paths, each.From.String(), each.Newer.String())
	}
	for _, each := range f.pair.Shared {
		paths = append(paths, each.Older.String())
	}
	for _, each := range f.pair.Aliases {
		paths = append(paths, each.Newer.String())
	}
	return identifiers(prefix, paths)[path.String()]
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

// present is a condition that holds if the structs on a path are not nil, and its end, too, if that can be nil.
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

// aliased prints how the newer version shows an alias if the field that it stands for is absent, and how the older version gets it back.
func (p *printer) aliased(f flow, each *plan.Alias) {
	alias, around := "in."+each.Older.Name(), each.Other[:len(each.Other)-1]
	if f.up {
		p.linef("if %s != nil {", alias)
		p.linef("if %s == nil {", p.shown(f, "shown", "dst", each.Newer))
		p.shownAlias(f, each, alias, around)
		p.linef("}\n}")
		return
	}
	p.linef("{")
	p.linef("if bag.TakeDerived(%s, %s, &%s) != %s {", p.keyName(each.OlderKey), p.shown(f, "shown", "src", each.Newer), alias, p.runtime("Exact"))
	p.linef("%s = nil\n}", alias)
	p.linef("var around int")
	p.linef("if bag.Take(%s, &around) && %s != nil {", p.keyName(each.ShownKey), alias)
	if len(around) == 0 {
		p.linef("in.%s = nil", each.Other)
	} else {
		p.linef("if %s {\nin.%s = nil\n}", present("in", each.Other, false), each.Other)
		p.pruned(around, "around")
	}
	p.linef("}\n}")
}

// shownAlias has the newer field show the alias, and keeps how many structs are around the field that the alias stands for.
func (p *printer) shownAlias(f flow, each *plan.Alias, alias string, around plan.Path) {
	variable := p.pathName(f, "moved", each.Newer)
	p.linef("var %s %s", variable, p.storage(each.Newer.Last().Type))
	if each.Conversion.Inexact() {
		p.linef("exact := true // the alias is kept in any case")
		p.copied(p.operation(f, each.Conversion, "exact"), variable, alias, "", 0)
		p.linef("_ = exact")
	} else {
		p.copied(p.operation(f, each.Conversion, ""), variable, alias, "", 0)
	}
	p.linef("if %s != nil {", variable)
	p.entered("dst", each.Newer)
	p.linef("dst.%s = %s", each.Newer, variable)
	p.linef("around := 0")
	for depth := range around {
		p.linef("if %s {\naround = %d\n}", present("in", around[:depth+1], true), depth+1)
	}
	p.put(f, each.ShownKey, "around")
	p.linef("}")
}

func (p *printer) keptAlias(f flow, each *plan.Alias) {
	alias := "in." + each.Older.Name()
	p.linef("if %s != nil {", alias)
	p.putDerived(f, each.OlderKey, alias, p.shown(f, "shown", "dst", each.Newer))
	p.linef("}")
}
