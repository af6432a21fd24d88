/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
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

// roundTrip writes the call of hand-written functions: it returns the value, and whether the way back leads to the same one.
func (p *printer) roundTrip(f flow, functions *markers.Functions, src string) string {
	there, back := p.thereAndBack(f, functions)
	return fmt.Sprintf("%s(%s, %s, %s)", p.runtime("RoundTrip"), src, there, back)
}

// applyToParts has hand-written functions convert what is inside of a list, map or pointer, each value by itself.
func (p *printer) applyToParts(f flow, c *plan.Conversion, o *operation) {
	if o.kind != applyWhole {
		return
	}
	o.kind = apply
	if c.Older.Kind != model.Pointer {
		o.apply = func(src string) string {
			there, back := p.thereAndBack(f, c.Functions)
			return fmt.Sprintf("%s(%s, %s, %s)", p.runtime("RoundTripValue"), src, there, back)
		}
	}
}

// thereAndBack are the expressions of both functions in the direction of the flow.
func (p *printer) thereAndBack(f flow, functions *markers.Functions) (there, back string) {
	there, back = functions.Up, functions.Down
	if !f.up {
		there, back = back, there
	}
	if functions.Metadata {
		with := p.runtime("With")
		there, back = fmt.Sprintf("%s(%s, %s)", with, there, f.metadata()), fmt.Sprintf("%s(%s, %s)", with, back, f.metadata())
	}
	return there, back
}

// noOriginal is the condition that there is no original of what is shown, or none that holds good. Functions that do not depend on the
// metadata show an original as they did before.
func (p *printer) noOriginal(f flow, functions *markers.Functions, key, shown, original string) string {
	if functions == nil || !functions.Metadata {
		return fmt.Sprintf("bag.TakeDerived(%s, %s, &%s) != %s", p.keyName(key), shown, original, p.runtime("Exact"))
	}
	_, back := p.thereAndBack(f, functions)
	return fmt.Sprintf("!%s(&bag, %s, %s, &%s, %s)", p.runtime("TakeOriginal"), p.keyName(key), shown, original, back)
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
	key := choose(f.up, f.pair.NewerKey(), f.pair.OlderKey())
	p.linef("own := *%s", f.source())
	p.linef("own.PropertyBag = nil")
	p.linef("exact := true")
	if f.pair.Functions.Metadata {
		p.linef("original := %s", f.target())
		p.linef("if %s {", p.noOriginal(f, f.pair.Functions, key, "&own", "original"))
	} else {
		p.linef("if bag.TakeDerived(%s, own, %s) != %s {", p.keyName(key), f.target(), p.runtime("Exact"))
	}
	p.linef("*%s = %s{}", f.target(), choose(f.up, p.name(f.link.Newer.StoragePath(), f.pair.Newer.Name), f.pair.Older.Name))
	p.linef("converted, same := %s", p.roundTrip(f, f.pair.Functions, "&own"))
	p.linef("if converted != nil {\n*%s = *converted\n}", f.target())
	p.linef("exact = same")
	if f.pair.Functions.Metadata {
		p.linef("} else {\n*%s = *original", f.target())
	}
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
