/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// copies prints the deep copies of a version's storage types, for hooks: what a hook takes from its source it has to copy.
func copies(version *plan.Version) []section {
	var sections []section
	for _, each := range version.Structs {
		sections = append(sections, section{each, func(p *printer) { p.deepCopies(each) }})
	}
	return sections
}

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
	p.linef("}")
	p.linef("")
	p.linef("// DeepCopy returns a copy of the %s, or nil for nil.", each.Name)
	p.linef("func (in *%s) DeepCopy() *%s {", each.Name, each.Name)
	p.linef("if in == nil {\nreturn nil\n}")
	p.linef("dst := new(%s)", each.Name)
	p.linef("in.DeepCopyInto(dst)")
	p.linef("return dst")
	p.linef("}")
	p.linef("")
}

// storageCopy turns a type of a storage type's field into what is done to copy it.
func (p *printer) storageCopy(t *model.Type) *operation {
	o := &operation{kind: throughKind[t.Kind], target: func() string { return p.storage(t) }}
	switch {
	case t.Elem != nil:
		o.elem = p.storageCopy(t.Elem)
	case t.Kind == model.Named && p.isOwn(t):
		o.kind = deepCopy
	case t.Has("DeepCopyInto"):
		o.kind, o.nilable = deepCopy, nilable(t)
	case plan.IsForeignList(t):
		p.foreignList(o, t)
	}
	return o
}
