/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
)

// metadataVariable is the parameter of functions that pass the metadata of the object on.
const metadataVariable = "object"

// metadata is the expression of the metadata of the object that is converted.
func (f flow) metadata() string {
	if f.pair.Older.Root {
		return "&" + f.source() + ".ObjectMeta"
	}
	return metadataVariable
}

// targetType is the storage type of what is converted to.
func (f flow) targetType(p *printer) string {
	if f.up {
		return p.name(f.link.Newer.StoragePath(), f.pair.Newer.Name)
	}
	return f.pair.Older.Name
}

// roundTrip writes the call of hand-written functions: it returns the value, and whether the way back leads to the same one.
func (p *printer) roundTrip(f flow, functions *markers.Functions, src string) string {
	there, back := functions.Up, functions.Down
	if !f.up {
		there, back = back, there
	}
	if functions.Metadata {
		with := p.runtime("With")
		there, back = fmt.Sprintf("%s(%s, %s)", with, there, f.metadata()), fmt.Sprintf("%s(%s, %s)", with, back, f.metadata())
	}
	return fmt.Sprintf("%s(%s, %s, %s)", p.runtime("RoundTrip"), src, there, back)
}

// metadataParameter is the parameter with the metadata of the object, after others.
func (p *printer) metadataParameter(needed bool) string {
	if !needed {
		return ""
	}
	return fmt.Sprintf(", %s *%s", metadataVariable, p.name(metaPackage, "ObjectMeta"))
}

// wholeAssignment prints how hand-written functions convert a struct as a whole, without its bag.
func (p *printer) wholeAssignment(f flow) {
	p.linef("own := *%s", f.source())
	p.linef("own.PropertyBag = nil")
	p.linef("exact := true")
	p.linef("if bag.TakeDerived(%s, own, %s) != %s {", p.keyName(choose(f.up, f.pair.NewerKey(), f.pair.OlderKey())), f.target(), p.runtime("Exact"))
	p.linef("*%s = %s{}", f.target(), f.targetType(p))
	p.linef("converted, same := %s", p.roundTrip(f, f.pair.Functions, "&own"))
	p.linef("if converted != nil {\n*%s = *converted\n}", f.target())
	p.linef("exact = same")
	p.linef("}")
}

// wholeDerived prints how the original is kept of a struct that the functions do not convert back.
func (p *printer) wholeDerived(f flow) {
	p.linef("if !exact {")
	p.linef("shown := *%s", f.target())
	p.linef("shown.PropertyBag = nil")
	p.putDerived(f, choose(f.up, f.pair.OlderKey(), f.pair.NewerKey()), "own", "shown")
	p.linef("}")
}
