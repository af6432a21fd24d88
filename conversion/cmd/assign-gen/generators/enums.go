/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// enumName is the function that maps an enum; up and down have one each.
func (p *printer) enumName(e *plan.Enum, up bool) string {
	return choose(up, "enumTo", "enumFrom") + p.enumNames[e.Name]
}

func enumNames(link *plan.Link) map[string]string {
	var all []string
	for _, pair := range link.Pairs {
		for _, each := range pair.Fields {
			if e := enumOf(each); e != nil {
				all = append(all, e.Name)
			}
		}
	}
	return identifiers("", all)
}

func (p *printer) enums(pair *plan.Pair) {
	for _, each := range pair.Fields {
		if e := enumOf(each); e != nil {
			p.enumFunction(e, each, true)
			p.enumFunction(e, each, false)
		}
	}
}

// enumOf is the enum of a field that both versions have, or nil.
func enumOf(each *plan.FieldPlan) *plan.Enum {
	if each.Fate != plan.Converted {
		return nil
	}
	return each.Conversion.Innermost().Enum
}

func (p *printer) enumFunction(e *plan.Enum, each *plan.FieldPlan, up bool) {
	cases, fallback, from, to := e.Up, "", spellingOf(e.OlderBool), spellingOf(e.NewerBool)
	if !up {
		cases, fallback, from, to = e.Down, e.Fallback, to, from
	}
	name := p.enumName(e, up)
	p.linef("// %s maps the values of %s, and says whether the way back leads to the same one.", name, choose(up, each.Older.Name(), each.Newer.String()))
	p.linef("func %s(value %s) (converted %s, exact bool) {", name, from.name, to.name)
	p.linef("switch value {")
	for _, each := range cases {
		p.linef("case %s:", from.spell(each.From))
		p.linef("return %s, %t", to.spell(each.To), each.Exact)
	}
	if len(e.Kept) > 0 && e.Fallback != "" {
		p.linef("case %s:", quotedAll(e.Kept))
		p.linef("return value, true")
	}
	p.linef("default:")
	switch {
	case fallback != "":
		p.linef("return %s, false", to.spell(fallback))
	case from.name != to.name:
		p.linef("return %s, false", to.zero)
	default:
		p.linef("return value, %t", e.Fallback == "")
	}
	p.linef("}")
	p.end()
}

// spelling is the Go syntax of the values of a type.
type spelling struct {
	name, zero string
	spell      func(value string) string
}

func spellingOf(isBool bool) spelling {
	if isBool {
		return spelling{"bool", "false", func(value string) string { return value }}
	}
	return spelling{"string", `""`, quoted}
}
