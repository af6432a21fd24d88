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

// keyed prints the conversion between a map and a list whose elements have its keys.
func (p *printer) keyed(f flow, each *plan.FieldPlan, dst, src string) {
	c := each.Conversion
	from, to, order := c.Older, c.Newer, each.OlderKey+each.NewerKey // one of the two is empty
	if !f.up {
		from, to = to, from
	}
	o := p.operation(f, c.Elem, "")
	field, key := c.Key.Name(), p.keyName(c.Key.Struct.Version.Name+"/"+c.Key.Key())
	p.linef("if %s != nil {", src)
	if to.Kind == model.Slice {
		p.linef("elements := make(map[string]%s, len(%s))", p.storage(to.Elem), src)
		p.linef("for key, value := range %s {", src)
		p.linef("var element %s", p.storage(to.Elem))
		p.copied(o, "element", "value", "", 0)
		p.linef("element.%s = &key", field)
		p.linef("elements[key] = element")
		p.linef("}")
		p.linef("var order []%s[%s]", p.runtime("Place"), p.storage(to.Elem))
		p.linef("bag.Take(%s, &order)", p.keyName(order))
		p.linef("%s = %s(elements, order, %s)", dst, p.runtime("InOrder"), p.keyOf(to, field))
	} else {
		p.linef("%s = make(%s, len(%s))", dst, p.storage(to), src)
		p.linef("for i := range %s {", src)
		p.linef("key := %s[i].%s", src, field)
		p.linef("if key == nil {\ncontinue\n}")
		p.linef("if _, isThere := %s[*key]; isThere {\ncontinue\n}", dst)
		p.linef("var element %s", p.storage(to.Elem))
		p.copied(o, "element", src+"[i]", "", 0)
		p.linef("element.PropertyBag.Remove(%s)", key)
		p.linef("%s[*key] = element", dst)
		p.linef("}")
		p.put(f, order, fmt.Sprintf("%s(%s, %s)", p.runtime("OrderOf"), src, p.keyOf(from, field)))
	}
	p.linef("} else {\nbag.Remove(%s)\n}", p.keyName(order))
}

// keyOf is the function that returns the key of an element.
func (p *printer) keyOf(list *model.Type, field string) string {
	return fmt.Sprintf("func(element *%s) *string { return element.%s }", p.storage(list.Elem), field)
}
