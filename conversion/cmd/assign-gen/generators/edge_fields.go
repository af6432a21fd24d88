/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// edgeField holds the operation for a field at the edge, its place in the annotation if that is needed, and the kind of its type in the storage type,
// before it was made optional.
func (p *printer) edgeField(f *plan.Field, load bool) (o *operation, at string, kind model.Kind) {
	version := f.Struct.Version
	o = p.edge(version, f.API.Type, load, p.keyFunction(f))
	if o.calls() {
		at = choose(load, "from", "to") + ".Field(" + quoted(f.Key()) + ")"
	}
	if f.IsPointer() {
		return o, at, model.Pointer
	}
	return o, at, plan.StorageType(f.API.Type, version.Package.Path).Base().Kind
}

func (p *printer) loadField(f *plan.Field) {
	dst, src, key := "dst."+f.Name(), "in."+f.Name(), quoted(f.Key())
	o, at, kind := p.edgeField(f, true)
	switch kind {
	case model.Pointer:
		p.copied(o, dst, src, at, 0)
	case model.Slice, model.Map:
		if !f.EmptyIsAbsent() || !o.isList() {
			p.copied(o, dst, src, at, 0)
			return
		}
		p.linef("if len(%s) > 0 {", src)
		p.elements(o, dst, src, at, 0)
		p.linef("} else if from.WasZero(%s) {", key)
		p.linef("%s = %s{}", dst, o.target())
		p.linef("}")
	case model.Struct, model.Array:
		p.loadStruct(f, o, at)
	case model.Basic, model.Named, model.Unsupported:
		value := src
		if o.kind == cast {
			value = o.target() + "(" + src + ")"
		}
		p.linef("%s = %s(from, %s, %s)", dst, p.runtime(choose(f.IsRequired(), "RequiredPointer", "OptionalPointer")), key, value)
	}
}

// loadStruct takes a struct without anything in it for none, unless something is kept for it.
func (p *printer) loadStruct(f *plan.Field, o *operation, at string) {
	dst, src, key := "dst."+f.Name(), "in."+f.Name(), quoted(f.Key())
	condition := fmt.Sprintf("!%s || from.WasZero(%s)", p.zero(f, src), key)
	switch {
	case f.ShowsZero():
		condition = "!" + p.zero(f, src)
	case f.IsRequiredScalar():
		condition = fmt.Sprintf("!%s || !from.WasAbsent(%s)", p.zero(f, src), key)
	case f.WritesZero():
		condition += fmt.Sprintf(" || !%s(&%s) && !from.WasAbsent(%s)", p.runtime("IsNull"), src, key)
	}
	if at != "" {
		condition += " || !at.IsEmpty()"
	}
	if f.ShowsZero() {
		condition = fmt.Sprintf("(%s) && (!from.WasAbsent(%s) || !%s(&%s))", condition, key, p.runtime("LooksZero"), src)
	}
	if at != "" {
		condition = "at := " + at + "; " + condition
		at = "at"
	}
	p.linef("if %s {", condition)
	p.linef("%s = new(%s)", dst, o.target())
	p.copied(o, "*"+dst, src, at, 0)
	p.linef("}")
}

// zero is an expression that says whether JSON would leave a struct out, or show it with nothing in it.
func (p *printer) zero(f *plan.Field, value string) string {
	if f.API.Omit == model.OmitZero && f.API.Type.Has("IsZero") {
		return value + ".IsZero()"
	}
	return p.runtime("IsZero") + "(&" + value + ")"
}

func (p *printer) storeField(f *plan.Field) {
	dst, src, key := "in."+f.Name(), "src."+f.Name(), quoted(f.Key())
	o, at, kind := p.edgeField(f, false)
	switch kind {
	case model.Pointer:
		p.copied(o, dst, src, at, 0)
	case model.Slice, model.Map:
		if f.API.Omit == model.OmitEmpty && o.kind != deepCopy && f.Struct.OmittedIfZero() {
			// With an empty list the struct would not be zero, and JSON would show it.
			p.linef("if len(%s) > 0 {", src)
			p.elements(o, dst, src, at, 0)
			p.linef("} else if %s != nil {\nto.MarkZero(%s)\n}", src, key)
			return
		}
		p.copied(o, dst, src, at, 0)
		if f.EmptyIsAbsent() && o.isList() {
			p.linef("if %s != nil && len(%s) == 0 {\nto.MarkZero(%s)\n}", src, src, key)
		}
		if f.IsNeverNull() {
			p.linef("if %s == nil {\n%s = %s{}\n}", dst, dst, o.target())
		}
	case model.Struct, model.Array:
		p.storeStruct(f, o, at)
	case model.Basic, model.Named, model.Unsupported:
		value := fmt.Sprintf("%s(to, %s, %s)", p.runtime(choose(f.IsRequired(), "RequiredValue", "OptionalValue")), key, src)
		if o.kind == cast {
			value = o.target() + "(" + value + ")"
		}
		p.linef("%s = %s", dst, value)
	}
}

// storeStruct marks a struct that is empty but not absent, or one that is absent although its JSON shows a value.
func (p *printer) storeStruct(f *plan.Field, o *operation, at string) {
	dst, src, key := "in."+f.Name(), "src."+f.Name(), quoted(f.Key())
	isZero, isNull := p.zero(f, dst), fmt.Sprintf("%s(&%s)", p.runtime("IsNull"), dst)
	if o.kind == call {
		isZero += fmt.Sprintf(" && len(%s.PropertyBag) == 0", src)
	}
	p.linef("if %s != nil {", src)
	p.copied(o, dst, "*"+src, at, 0)
	switch {
	case f.WritesZero():
		p.linef("if %s && %s {\nto.MarkZero(%s)\n}", isZero, isNull, key)
		p.linef("} else if !%s {\nto.MarkAbsent(%s)", isNull, key)
	case f.ShowsZero(), f.IsRequiredScalar():
		p.linef("} else {")
		if o.kind == call {
			// The fields that it shows are absent, too.
			o.call(address(dst), "&"+p.storage(f.API.Type)+"{}", at)
		}
		p.linef("to.MarkAbsent(%s)", key)
	default:
		p.linef("if %s {\nto.MarkZero(%s)\n}", isZero, key)
	}
	p.linef("}")
}

// keyFunction is the function that names the elements of a list, or nothing if they have no keys.
func (p *printer) keyFunction(f *plan.Field) string {
	if len(f.Settings.ListMapKeys) == 0 {
		return ""
	}
	key := func(f *plan.Field) string { return f.Struct.Name + "." + f.Name() }
	if p.keyFunctionNames == nil {
		var all []string
		for _, each := range f.Struct.Version.Structs {
			for _, field := range each.Fields {
				if len(field.Settings.ListMapKeys) > 0 {
					all = append(all, key(field))
				}
			}
		}
		p.keyFunctionNames = identifiers("keyOf", all)
	}
	return p.keyFunctionNames[key(f)]
}

// keyFunctions prints the functions that name the elements of a struct's lists.
func (p *printer) keyFunctions(each *plan.Struct) {
	pkg := each.Version.Package.Path
	for _, f := range each.Fields {
		name := p.keyFunction(f)
		under := plan.StorageType(f.API.Type, pkg)
		if name == "" || under.Kind != model.Slice {
			continue
		}
		list := f.API.Type.Base().Pointed().Base()
		element := list.Elem
		p.linef("func %s(element *%s) string {", name, p.api(element))
		if element.Kind == model.Pointer {
			p.linef("if *element == nil {\nreturn \"\"\n}")
			element = element.Elem
		}
		parts := model.Each(f.Settings.ListMapKeys, func(key string) string {
			return keyPart(choose(list.Elem.Kind == model.Pointer, "(*element)", "element"), element, key)
		})
		p.linef("return %s(%s)", p.runtime("Key"), strings.Join(parts, ", "))
		p.end()
	}
}

// keyPart is the expression of one of the fields that name an element.
func keyPart(element string, t *model.Type, key string) string {
	field := t.FieldInJSON(key) // which the planner has checked
	if base := field.Type.Base(); field.Type.Kind == model.Named && base.Kind == model.Basic && base.Name == "string" {
		return "string(" + element + "." + field.Name + ")"
	}
	return element + "." + field.Name
}
