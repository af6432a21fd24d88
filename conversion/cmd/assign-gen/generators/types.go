/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"go/token"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// storageTypes prints the storage types of a version. They live in memory, and as JSON inside of a bag when the next
// version knows nothing of them.
func storageTypes(version *plan.Version) []section {
	return append(ofStructs(version, (*printer).storageType), section{nil, func(p *printer) { p.enumValues(version) }})
}

func (p *printer) storageType(each *plan.Struct) {
	if borrowed(each.Declared) {
		p.linef("// %s is %s in memory, as %s uses it. What is absent is nil.", each.Name, each.Declared, each.Version.Name)
	} else {
		p.linef("// %s is %s of %s in memory. What is absent is nil.", each.Name, each.Name, each.Version.Name)
	}
	p.linef("type %s struct {", each.Name)
	if each.Root {
		p.linef("ObjectMeta %s `json:\"metadata\"`", p.name(metaPackage, "ObjectMeta"))
	}
	for _, field := range each.Fields {
		p.linef("%s %s `json:\"%s%s\"`", field.Name(), p.storage(field.Storage), field.Key(), omitNil(field.Storage))
	}
	p.linef("")
	p.linef("// PropertyBag holds what this version has no field for.")
	p.linef("PropertyBag %s `json:\"$propertyBag,omitempty\"`", p.runtime("PropertyBag"))
	p.end()
}

// omitNil is the option of a JSON tag that leaves a field out if it is nil, and only then. omitzero would ask a method
// IsZero first, which resource.Quantity brings along for pointers to it.
func omitNil(t *model.Type) string {
	switch {
	case t.Kind == model.Pointer:
		return ",omitempty"
	case t.Has("IsZero"):
		return "" // null is nil again
	default:
		return ",omitzero"
	}
}

// enumValues repeats the constants of the API package, for hooks: storage types have strings where it has names for them,
// and cannot import it.
func (p *printer) enumValues(version *plan.Version) {
	var lines []string
	for _, declared := range version.Package.Types {
		if borrowed(declared) {
			continue
		}
		for _, constant := range declared.Constants {
			if token.IsExported(constant.Name) && version.Struct(constant.Name) == nil {
				lines = append(lines, constant.Name+" = "+quoted(constant.Value))
			}
		}
	}
	if lines == nil {
		return
	}
	p.linef("// Values of %s.", version.Name)
	p.linef("const (\n%s\n)", strings.Join(lines, "\n"))
}

// deepCopies prints the deep copies of a storage type, for hooks: what a hook takes from its source it has to copy.
func (p *printer) deepCopies(each *plan.Struct) {
	p.linef("// DeepCopyInto copies the %s. The two share no memory.", each.Name)
	p.linef("func (in *%s) DeepCopyInto(dst *%s) {", each.Name, each.Name)
	p.linef("*dst = %s{PropertyBag: in.PropertyBag.Clone()}", each.Name)
	if each.Root {
		p.linef("in.ObjectMeta.DeepCopyInto(&dst.ObjectMeta)")
	}
	for _, field := range each.Fields {
		p.copied(p.storageCopy(field.Storage), "dst."+field.Name(), "in."+field.Name(), "", 0)
	}
	p.end()
	p.linef("// DeepCopy returns a copy of the %s, or nil for nil.", each.Name)
	p.linef("func (in *%s) DeepCopy() *%s {", each.Name, each.Name)
	p.linef("if in == nil {\nreturn nil\n}")
	p.linef("dst := new(%s)", each.Name)
	p.linef("in.DeepCopyInto(dst)")
	p.linef("return dst")
	p.end()
}

func (p *printer) storageCopy(t *model.Type) *operation {
	o := &operation{kind: throughKind[t.Kind], target: func() string { return p.storage(t) }}
	switch {
	case t.Elem != nil:
		o.elem = p.storageCopy(t.Elem)
	case t.Kind == model.Named && p.isOwn(t):
		o.kind = deepCopy
	case t.Has("DeepCopyInto"):
		o.kind, o.nilable = deepCopy, t.Nilable()
	case plan.IsForeignList(t):
		p.foreignList(o, t)
	}
	return o
}
