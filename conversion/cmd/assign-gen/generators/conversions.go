/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// kindOf are the kinds of operations by the rules of conversions. A list that is a map in the other version has another printer.
var kindOf = map[plan.Rule]kind{
	plan.Copy: set, plan.Cast: cast, plan.DeepCopy: deepCopy, plan.Call: call,
	plan.OfPointer: ofPointer, plan.OfSlice: ofSlice, plan.OfArray: ofArray, plan.OfMap: ofMap,
	plan.Widen: apply, plan.MapEnum: apply, plan.ToDuration: apply, plan.FromDuration: apply, plan.ByFunctions: applyWhole,
}

// throughKind are those of types that hold others.
var throughKind = map[model.Kind]kind{model.Pointer: ofPointer, model.Slice: ofSlice, model.Array: ofArray, model.Map: ofMap}

// operation turns a planned conversion into what is done in one direction between storage types.
func (p *printer) operation(f flow, c *plan.Conversion, exact string) *operation {
	target := c.Newer
	if !f.up {
		target = c.Older
	}
	o := &operation{kind: kindOf[c.Rule], target: func() string { return p.storage(target) }, exact: exact}
	if c.Elem != nil {
		o.elem = p.operation(f, c.Elem, exact)
		p.applyToParts(f, c.Elem, o.elem)
	}
	switch c.Rule {
	case plan.DeepCopy:
		o.nilable = target.Nilable()
	case plan.Call:
		o.call = p.pairCall(f, c.Pair)
	case plan.OfMap:
		if !c.Older.Key.Same(c.Newer.Key) {
			o.key = func(key string) string { return fmt.Sprintf("%s(%s)", p.storage(target.Key), key) }
		}
	case plan.Widen:
		o.apply = func(src string) string { return fmt.Sprintf("%s[%s](%s)", p.runtime("Narrow"), o.target(), src) }
		if f.up {
			o.kind = cast
		}
	case plan.MapEnum:
		o.apply = func(src string) string { return fmt.Sprintf("%s(%s)", p.enumName(c.Enum, f.up), src) }
	case plan.ToDuration:
		p.inUnits(o, c.Unit, f.up)
	case plan.FromDuration:
		p.inUnits(o, c.Unit, !f.up)
	case plan.ByFunctions:
		o.apply = func(src string) string { return p.roundTrip(f, c.Functions, src) }
	default:
	}
	return o
}

// inUnits makes a duration of a number, or a number of a duration.
func (p *printer) inUnits(o *operation, unit string, toDuration bool) {
	o.apply = func(src string) string {
		length := "24*" + p.name("time", "Hour")
		if unit != "days" { // package time has a constant of the name
			length = p.name("time", exported(strings.TrimSuffix(unit, "s")))
		}
		if toDuration {
			return fmt.Sprintf("%s(%s, %s)", p.runtime("ToDuration"), src, length)
		}
		return fmt.Sprintf("%s[%s](%s, %s)", p.runtime("FromDuration"), o.target(), src, length)
	}
}

// pairCall writes the call of the function that converts a nested struct.
func (p *printer) pairCall(f flow, pair *plan.Pair) func(dst, src, at string) {
	return func(dst, src, _ string) {
		metadata := ""
		if pair.TakesMetadata() {
			metadata = ", " + f.metadata()
		}
		call := receiver(choose(f.up, src, dst)) + choose(f.up, ".AssignProperties_To_", ".AssignProperties_From_") + pair.Newer.Name
		p.linef("if err := %s(%s%s); err != nil {\nreturn err\n}", call, choose(f.up, dst, src), metadata)
	}
}

// receiver is the expression that a method is called on, given a pointer: Go takes the address by itself.
func receiver(pointer string) string { return strings.TrimPrefix(pointer, "&") }

// edge turns a type of the API into what is done between it and its storage type.
func (p *printer) edge(version *plan.Version, t *model.Type, load bool, keys string) *operation {
	pkg := version.Package.Path
	own := t.Kind == model.Named && t.Package == pkg
	under := t
	if own && t.Underlying.Kind != model.Struct {
		under = t.Underlying
	}
	o := &operation{target: func() string { return p.api(t) }}
	if load {
		o.target = func() string { return p.storage(plan.StorageType(t, pkg)) }
	}
	switch under.Kind {
	case model.Named:
		p.edgeNamed(o, under, own, load)
	case model.Pointer:
		o.kind, o.elem = ofPointer, p.edge(version, under.Elem, load, keys)
		if plan.StorageType(under, pkg).Kind != model.Pointer {
			o.kind = fromPointer
			if !load {
				o.kind = toPointer
			}
		}
	case model.Slice, model.Array:
		o.kind, o.elem, o.list = throughKind[under.Kind], p.edge(version, under.Elem, load, ""), p.places(load, keys)
	case model.Map:
		o.kind, o.elem = ofMap, p.edge(version, under.Elem, load, "")
		p.edgeKeys(version, o, under.Key, load)
	case model.Basic, model.Struct, model.Unsupported:
		o.kind = set
		if own {
			o.kind = cast
		}
	}
	return o
}

func (p *printer) edgeNamed(o *operation, t *model.Type, own, load bool) {
	switch {
	case own:
		o.kind = call
		o.call = func(dst, src, at string) {
			api, storage := choose(load, src, dst), choose(load, dst, src)
			if borrowed(t) {
				p.linef("%s(%s, %s, %s)", edgeName(t.Name, load), api, storage, at)
			} else {
				p.linef("%s.%s(%s, %s)", receiver(api), edgeName("", load), storage, at)
			}
		}
	case t.Has("DeepCopyInto"):
		o.kind, o.nilable = deepCopy, t.Nilable()
	case t.Package == "encoding/json" && t.Name == "RawMessage":
		o.kind = raw
	case plan.IsForeignList(t):
		p.foreignList(o, t)
	default:
		o.kind = set
	}
}

// foreignList has a list or map of another module be copied element by element.
func (p *printer) foreignList(o *operation, t *model.Type) {
	o.kind, o.elem = throughKind[t.Base().Kind], &operation{kind: set, target: func() string { return p.storage(t.Base().Elem) }}
}

func (p *printer) edgeKeys(version *plan.Version, o *operation, key *model.Type, load bool) {
	if key.Kind != model.Named {
		return
	}
	named := func(expression string) string { return fmt.Sprintf("%s(%s)", p.api(key), expression) }
	plain := func(expression string) string { return "string(" + expression + ")" }
	switch {
	case key.Package != version.Package.Path: // the storage type has the name too
		o.name = plain
	case load:
		o.key, o.name = plain, plain
	default:
		o.key = named
	}
}

// places writes the call that finds the places of a list's elements in the annotation.
func (p *printer) places(load bool, keys string) func(at, dst, src string) string {
	return func(at, dst, src string) string {
		return fmt.Sprintf("%s(%s, %s, %s)", p.runtime(choose(load, "ReadList", "WriteList")), at, choose(load, src, dst), cmp.Or(keys, "nil"))
	}
}

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

func (p *printer) keyOf(list *model.Type, field string) string {
	return fmt.Sprintf("func(element *%s) *string { return element.%s }", p.storage(list.Elem), field)
}
