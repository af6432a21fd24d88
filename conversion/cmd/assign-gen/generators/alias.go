/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import "github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"

// aliased prints how the newer version shows an alias if the field that it stands for is absent, and how the older version gets it back.
func (p *printer) aliased(f flow, each *plan.Alias) {
	alias, around := "in."+each.Older.Name(), each.Other[:len(each.Other)-1]
	if f.up {
		p.linef("if %s != nil {", alias)
		p.linef("if %s == nil {", p.shown(f, "dst", each.Newer))
		p.shownAlias(f, each, alias, around)
		p.linef("}\n}")
		return
	}
	p.linef("{")
	p.linef("if bag.TakeDerived(%s, %s, &%s) != %s {", p.keyName(each.OlderKey), p.shown(f, "src", each.Newer), alias, p.runtime("Exact"))
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

// keptAlias prints how the newer version keeps an alias.
func (p *printer) keptAlias(f flow, each *plan.Alias) {
	alias := "in." + each.Older.Name()
	p.linef("if %s != nil {", alias)
	p.putDerived(f, each.OlderKey, alias, p.shown(f, "dst", each.Newer))
	p.linef("}")
}
