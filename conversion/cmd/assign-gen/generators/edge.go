/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// annotationVariable is the variable of an API package that knows its annotation.
const annotationVariable = "conversionProperties"

// edge prints the conversions between the API types of a version and its storage types, and what the webhook calls.
func edge(all *plan.Plan, version *plan.Version) []section {
	sections := []section{{nil, func(p *printer) { p.annotation(all, version) }}}
	for _, each := range version.Structs {
		if each.Root {
			sections = append(sections, section{each, func(p *printer) {
				p.rootEdge(each)
				p.toHub(all, each, each, "own", "the storage type of the hub, "+all.Hub.Name)
				p.convertible(all, each)
			}})
		}
	}
	shapes := ofStructs(version, func(p *printer, each *plan.Struct) {
		p.shape(each, true)
		p.shape(each, false)
	})
	return slices.Concat(sections, shapes, ofStructs(version, (*printer).keyFunctions))
}

// annotation prints the variable that hand-written code of the package uses too, in SetDefaults and Validate.
func (p *printer) annotation(all *plan.Plan, version *plan.Version) {
	p.linef("// %s is the annotation that holds what %s cannot show.", annotationVariable, version.Name)
	if all.Interface == plan.Knative {
		p.linef("// SetDefaults calls its Preserve, and Validate its Validate.")
	}
	p.linef("var %s = %s{", annotationVariable, p.runtime("Annotation"))
	p.linef("Name: %s,", quoted(all.Annotation))
	if version == all.Hub {
		p.linef("Hub: true,")
	}
	if all.Retired != nil {
		p.linef("Retired: []string{%s},", quotedAll(all.Retired))
	}
	if all.Former != nil {
		p.linef("Former: []string{%s},", quotedAll(all.Former))
	}
	p.end()
}

// rootEdge prints the conversion of a kind, whose metadata carries the bags.
func (p *printer) rootEdge(each *plan.Struct) {
	storage := p.name(each.Version.StoragePath(), each.Name)
	p.linef("// AssignProperties_To_%s copies the object to its storage type. The two share no memory.", each.Name)
	p.linef("func (in *%s) AssignProperties_To_%s(dst *%s) error {", each.Name, each.Name, storage)
	p.linef("*dst = %s{}", storage)
	p.linef("in.assignToStorage(dst, %s.Load(&dst.ObjectMeta, &in.ObjectMeta))", annotationVariable)
	p.linef("return nil")
	p.end()
	p.linef("// AssignProperties_From_%s fills the object from its storage type, except for apiVersion and kind. The two share no memory.", each.Name)
	p.linef("func (in *%s) AssignProperties_From_%s(src *%s) error {", each.Name, each.Name, storage)
	p.linef("*in = %s{TypeMeta: in.TypeMeta}", each.Name)
	p.linef("to := %s()", p.runtime("NewWriter"))
	p.linef("in.assignFromStorage(src, to)")
	p.linef("%s.Store(&in.ObjectMeta, &src.ObjectMeta, to)", annotationVariable)
	p.linef("return nil")
	p.end()
}

func hubKind(all *plan.Plan, each *plan.Struct) string {
	for each.Version != all.Hub {
		each = counterpart(all, each)
	}
	return each.Name
}

func counterpart(all *plan.Plan, each *plan.Struct) *plan.Struct {
	for _, link := range all.Links {
		if pair := model.Find(link.Pairs, func(p *plan.Pair) bool { return p.Older == each }); pair != nil {
			return pair.Newer
		}
	}
	return nil
}

// borrowed reports whether another package declares a struct, which therefore has functions in place of methods.
func borrowed(t *model.Type) bool { return t.Origin != nil }

// edgeName is the name of the conversion of a struct to its storage type, which loads it, or from that: a method's, or a function's for the name of a type.
func edgeName(of string, load bool) string {
	return "assign" + of + choose(load, "ToStorage", "FromStorage")
}

// shape prints the conversion of a struct to its storage type, which loads it, or from that. It cannot fail: the shapes are the same.
func (p *printer) shape(each *plan.Struct, load bool) {
	parameters := "src *" + p.name(each.Version.StoragePath(), each.Name) + ", to " + p.runtime("Writer")
	if load {
		parameters = "dst *" + p.name(each.Version.StoragePath(), each.Name) + ", from " + p.runtime("Reader")
	}
	if declared := each.Declared; borrowed(declared) {
		p.linef("func %s(in *%s, %s) {", edgeName(declared.Name, load), p.api(declared), parameters)
	} else {
		p.linef("func (in *%s) %s(%s) {", each.Name, edgeName("", load), parameters)
	}
	p.linef("%s", choose(load, "dst.PropertyBag = from.Bag()", "to.SetBag(src.PropertyBag)"))
	for _, field := range each.Fields {
		if load {
			p.loadField(field)
		} else {
			p.storeField(field)
		}
	}
	p.end()
}
