/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"
	"strings"

	"github.com/mallard-dev/mallard/codegen/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/codegen/cmd/assign-gen/plan"
)

// annotationVariable is the variable of an API package that knows its annotation.
const annotationVariable = "conversionProperties"

// edge prints the conversions between the API types of a version and its storage types, and what the webhook calls.
func edge(p *printer, all *plan.Plan, version *plan.Version) {
	p.annotation(all, version)
	for _, each := range version.Structs {
		if each.Root {
			p.rootEdge(each)
			p.toHub(all, each)
			p.convertible(all, each)
		}
	}
	for _, each := range version.Structs {
		p.load(each)
		p.store(each)
	}
	for _, each := range version.Structs {
		p.keyFunctions(each)
	}
}

// annotation prints the variable that hand-written code of the package uses too, in SetDefaults and Validate.
func (p *printer) annotation(all *plan.Plan, version *plan.Version) {
	p.linef("// %s is the annotation that holds what %s cannot show.", annotationVariable, version.Name)
	p.linef("// SetDefaults calls its Preserve, and Validate its Validate.")
	p.linef("var %s = %s{", annotationVariable, p.runtime("Annotation"))
	p.linef("Name: %s,", quoted(all.Annotation))
	if version == all.Hub {
		p.linef("Hub: true,")
	}
	if all.Retired != nil {
		var retired []string
		for _, each := range all.Retired {
			retired = append(retired, quoted(each))
		}
		p.linef("Retired: []string{%s},", strings.Join(retired, ", "))
	}
	p.linef("}")
	p.linef("")
}

// rootEdge prints the conversion of a kind, whose metadata carries the bags.
func (p *printer) rootEdge(each *plan.Struct) {
	storage := p.name(each.Version.StoragePath(), each.Name)
	p.linef("// AssignProperties_To_%s copies the object to its storage type. The two share no memory.", each.Name)
	p.linef("func (in *%s) AssignProperties_To_%s(dst *%s) error {", each.Name, each.Name, storage)
	p.linef("*dst = %s{}", storage)
	p.linef("in.assignToStorage(dst, %s.Load(&dst.ObjectMeta, &in.ObjectMeta))", annotationVariable)
	p.linef("return nil")
	p.linef("}")
	p.linef("")
	p.linef("// AssignProperties_From_%s fills the object from its storage type, but for apiVersion and kind. The two share no memory.", each.Name)
	p.linef("func (in *%s) AssignProperties_From_%s(src *%s) error {", each.Name, each.Name, storage)
	p.linef("*in = %s{TypeMeta: in.TypeMeta}", each.Name)
	p.linef("to := %s()", p.runtime("NewWriter"))
	p.linef("in.assignFromStorage(src, to)")
	p.linef("%s.Store(&in.ObjectMeta, &src.ObjectMeta, to)", annotationVariable)
	p.linef("return nil")
	p.linef("}")
	p.linef("")
}

// toHub prints the way of a kind to the hub and back.
func (p *printer) toHub(all *plan.Plan, each *plan.Struct) {
	name := each.Name
	hubName := hubKind(all, each)
	hub := p.name(all.Hub.StoragePath(), hubName)
	p.linef("// AssignToHub copies the object to the storage type of the hub, %s.", all.Hub.Name)
	p.linef("func (in *%s) AssignToHub(hub *%s) error {", name, hub)
	if each.Version == all.Hub {
		p.linef("return in.AssignProperties_To_%s(hub)", name)
	} else {
		p.linef("var own %s", p.name(each.Version.StoragePath(), name))
		p.linef("if err := in.AssignProperties_To_%s(&own); err != nil {\nreturn err\n}", name)
		p.linef("return own.AssignToHub(hub)")
	}
	p.linef("}")
	p.linef("")
	p.linef("// AssignFromHub fills the object from the storage type of the hub, %s.", all.Hub.Name)
	p.linef("func (in *%s) AssignFromHub(hub *%s) error {", name, hub)
	if each.Version == all.Hub {
		p.linef("return in.AssignProperties_From_%s(hub)", name)
	} else {
		p.linef("var own %s", p.name(each.Version.StoragePath(), name))
		p.linef("if err := own.AssignFromHub(hub); err != nil {\nreturn err\n}")
		p.linef("return in.AssignProperties_From_%s(&own)", name)
	}
	p.linef("}")
	p.linef("")
}

// convertible prints what the conversion webhook calls. It asks the other version for its way to the hub, so that no API
// package has to import another.
func (p *printer) convertible(all *plan.Plan, each *plan.Struct) {
	name, hubName := each.Name, hubKind(all, each)
	hub := p.name(all.Hub.StoragePath(), hubName)
	hubConvertible := p.name(all.Hub.StoragePath(), hubName+"HubConvertible")
	label := each.Version.Name + "." + name
	p.linef("var _ %s = (*%s)(nil)", p.name(apisPackage, "Convertible"), name)
	p.linef("")
	p.linef("// ConvertTo implements apis.Convertible.")
	p.linef("func (in *%s) ConvertTo(_ %s, to %s) (err error) {", name, p.name("context", "Context"), p.name(apisPackage, "Convertible"))
	p.linef("defer %s(&err, in)", p.runtime("Recover"))
	p.linef("dst, ok := to.(%s)", hubConvertible)
	p.linef("if !ok {\nreturn %s(%s, to)\n}", p.name("fmt", "Errorf"), quoted(label+" cannot convert to %T"))
	p.linef("var hub %s", hub)
	p.linef("if err := in.AssignToHub(&hub); err != nil {\nreturn err\n}")
	p.linef("return dst.AssignFromHub(&hub)")
	p.linef("}")
	p.linef("")
	p.linef("// ConvertFrom implements apis.Convertible.")
	p.linef("func (in *%s) ConvertFrom(_ %s, from %s) (err error) {", name, p.name("context", "Context"), p.name(apisPackage, "Convertible"))
	p.linef("defer %s(&err, in)", p.runtime("Recover"))
	p.linef("src, ok := from.(%s)", hubConvertible)
	p.linef("if !ok {\nreturn %s(%s, from)\n}", p.name("fmt", "Errorf"), quoted(label+" cannot convert from %T"))
	p.linef("var hub %s", hub)
	p.linef("if err := src.AssignToHub(&hub); err != nil {\nreturn err\n}")
	p.linef("return in.AssignFromHub(&hub)")
	p.linef("}")
	p.linef("")
}

// hubKind is what a kind is called in the hub.
func hubKind(all *plan.Plan, each *plan.Struct) string {
	for each.Version != all.Hub {
		each = counterpart(all, each)
	}
	return each.Name
}

func counterpart(all *plan.Plan, each *plan.Struct) *plan.Struct {
	for _, link := range all.Links {
		for _, pair := range link.Pairs {
			if pair.Older == each {
				return pair.Newer
			}
		}
	}
	return nil
}

// load prints the conversion of a struct to its storage type. It cannot fail: the shapes are the same.
func (p *printer) load(each *plan.Struct) {
	p.linef("func (in *%s) assignToStorage(dst *%s, from %s) {", each.Name, p.name(each.Version.StoragePath(), each.Name), p.runtime("Reader"))
	p.linef("dst.PropertyBag = from.Bag()")
	for _, field := range each.Fields {
		p.loadField(field)
	}
	p.linef("}")
	p.linef("")
}

func (p *printer) loadField(f *plan.Field) {
	dst, src, key := "dst."+f.Name(), "in."+f.Name(), quoted(f.Key())
	version := f.Struct.Version
	o := p.edge(version, f.API.Type, true, keyFunction(f))
	at := ""
	if o.calls() {
		at = "from.Field(" + key + ")"
	}
	under := plan.StorageType(f.API.Type, version.Package.Path)
	switch under.Base().Kind {
	case model.Pointer:
		p.copied(o, dst, src, at, 0)
	case model.Slice, model.Map:
		if f.API.Omit != model.OmitEmpty || o.kind == deepCopy {
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
		p.linef("%s = %s(from, %s, %s)", dst, p.runtime(choose(f.API.Omit == model.Always, "RequiredPointer", "OptionalPointer")), key, value)
	}
}

// loadStruct takes a struct without anything in it for none, unless something is kept for it.
func (p *printer) loadStruct(f *plan.Field, o *operation, at string) {
	dst, src, key := "dst."+f.Name(), "in."+f.Name(), quoted(f.Key())
	condition := fmt.Sprintf("!%s || from.WasZero(%s)", p.zero(f, src), key)
	if f.ShowsZero() {
		condition = "!" + p.zero(f, src)
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

// store prints the conversion of a struct from its storage type.
func (p *printer) store(each *plan.Struct) {
	p.linef("func (in *%s) assignFromStorage(src *%s, to %s) {", each.Name, p.name(each.Version.StoragePath(), each.Name), p.runtime("Writer"))
	p.linef("to.SetBag(src.PropertyBag)")
	for _, field := range each.Fields {
		p.storeField(field)
	}
	p.linef("}")
	p.linef("")
}

func (p *printer) storeField(f *plan.Field) {
	dst, src, key := "in."+f.Name(), "src."+f.Name(), quoted(f.Key())
	version := f.Struct.Version
	o := p.edge(version, f.API.Type, false, keyFunction(f))
	at := ""
	if o.calls() {
		at = "to.Field(" + key + ")"
	}
	under := plan.StorageType(f.API.Type, version.Package.Path)
	switch under.Base().Kind {
	case model.Pointer:
		p.copied(o, dst, src, at, 0)
	case model.Slice, model.Map:
		p.copied(o, dst, src, at, 0)
		if f.API.Omit == model.OmitEmpty && o.kind != deepCopy {
			p.linef("if %s != nil && len(%s) == 0 {\nto.MarkZero(%s)\n}", src, src, key)
		}
	case model.Struct, model.Array:
		p.storeStruct(f, o, at)
	case model.Basic, model.Named, model.Unsupported:
		value := fmt.Sprintf("%s(to, %s, %s)", p.runtime(choose(f.API.Omit == model.Always, "RequiredValue", "OptionalValue")), key, src)
		if o.kind == cast {
			value = o.target() + "(" + value + ")"
		}
		p.linef("%s = %s", dst, value)
	}
}

// storeStruct marks a struct that is there with nothing in it, or one that is not there and looks otherwise.
func (p *printer) storeStruct(f *plan.Field, o *operation, at string) {
	dst, src, key := "in."+f.Name(), "src."+f.Name(), quoted(f.Key())
	p.linef("if %s != nil {", src)
	p.copied(o, dst, "*"+src, at, 0)
	switch {
	case f.ShowsZero():
		p.linef("} else {")
		if o.kind == call {
			// What its fields show is not there either.
			p.linef("%s.assignFromStorage(&%s{}, %s)", dst, p.name(f.Struct.Version.StoragePath(), f.API.Type.Name), at)
		}
		p.linef("to.MarkAbsent(%s)", key)
	case o.kind == call:
		p.linef("if %s && len(%s.PropertyBag) == 0 {\nto.MarkZero(%s)\n}", p.zero(f, dst), src, key)
	default:
		p.linef("if %s {\nto.MarkZero(%s)\n}", p.zero(f, dst), key)
	}
	p.linef("}")
}

// keyFunction is the function that names the elements of a list, or nothing if they have no keys.
func keyFunction(f *plan.Field) string {
	if len(f.Settings.ListMapKeys) == 0 {
		return ""
	}
	return "keyOf" + f.Struct.Name + f.Name()
}

// keyFunctions prints the functions that name the elements of a struct's lists.
func (p *printer) keyFunctions(each *plan.Struct) {
	pkg := each.Version.Package.Path
	for _, f := range each.Fields {
		name := keyFunction(f)
		under := plan.StorageType(f.API.Type, pkg)
		if name == "" || under.Kind != model.Slice {
			continue
		}
		element := f.API.Type.Base().Elem
		p.linef("func %s(element *%s) string {", name, p.api(element))
		if element.Kind == model.Pointer {
			p.linef("if *element == nil {\nreturn \"\"\n}")
			element = element.Elem
		}
		var parts []string
		for _, key := range f.Settings.ListMapKeys {
			parts = append(parts, keyPart(choose(f.API.Type.Base().Elem.Kind == model.Pointer, "(*element)", "element"), element, key))
		}
		p.linef("return %s(%s)", p.runtime("Key"), strings.Join(parts, ", "))
		p.linef("}")
		p.linef("")
	}
}

// keyPart is the expression of one of the fields that name an element.
func keyPart(element string, t *model.Type, key string) string {
	for _, field := range t.Base().Fields {
		if field.JSON != key {
			continue
		}
		expression := element + "." + field.Name
		if field.Type.Kind == model.Named && field.Type.Base().Kind == model.Basic && field.Type.Base().Name == "string" {
			return "string(" + expression + ")"
		}
		return expression
	}
	return quoted(key) // validated by the planner
}
