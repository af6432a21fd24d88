/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

func (p *printer) stashedOlder(f flow, each *plan.FieldPlan) {
	kept := stash{key: each.OlderKey, path: each.From, leaves: f.up}
	switch {
	case each.Presence:
		p.stashedPresence(f, kept)
	case len(each.From) > 1:
		p.stashedInside(f, kept)
	case f.up:
		p.put(f, each.OlderKey, "in."+each.Older.Name())
	default:
		p.linef("bag.Take(%s, &in.%s)", p.keyName(each.OlderKey), each.Older.Name())
	}
}

func (p *printer) stashedNewer(f flow, each *plan.FieldPlan) {
	key, basis := p.keyName(each.NewerKey), basisOf(each)
	kept := stash{key: each.NewerKey, path: each.Newer, leaves: !f.up}
	switch {
	case each.Presence:
		p.stashedPresence(f, kept)
	case len(each.Newer) > 1:
		p.stashedInside(f, kept)
	case !f.up && basis == "":
		p.put(f, each.NewerKey, "src."+each.Newer.String())
	case !f.up: // after the hook, when the basis is known
		p.linef("bag.Remove(%s)", key)
	case basis == "":
		p.linef("bag.Take(%s, &dst.%s)", key, each.Newer)
	default:
		p.linef("if bag.TakeDerived(%s, %s, &dst.%s) != %s {", key, basis, each.Newer, p.runtime("Exact"))
		p.linef("dst.%s = nil", each.Newer)
		p.linef("}")
	}
}

// stash holds the parts that are kept of a struct that only one version has, in one direction.
type stash struct {
	key  string
	path plan.Path
	// leaves reports whether the conversion leaves the version that has the struct.
	leaves bool
}

// stashedInside stashes a part of a struct of which other parts have separate fields in the other version.
func (p *printer) stashedInside(f flow, kept stash) {
	key, value := p.keyName(kept.key), kept.path.String()
	if !kept.leaves {
		variable := p.pathName(f, "stashed", kept.path)
		p.linef("var %s %s", variable, p.storage(kept.path.Last().Type))
		p.linef("if bag.Take(%s, &%s) {", key, variable)
		p.entered(f.target(), kept.path)
		p.linef("%s.%s = %s", f.target(), value, variable)
		p.linef("}")
		return
	}
	p.linef("if %s {", present(f.source(), kept.path, nilable(kept.path.Last().Type)))
	p.put(f, kept.key, f.source()+"."+value)
	p.linef("} else {")
	p.linef("bag.Remove(%s)", key)
	p.linef("}")
}

// stashedPresence stashes the bag of a struct whose fields the other version has elsewhere, and one with nothing in it, which
// these fields would not tell from none.
func (p *printer) stashedPresence(f flow, kept stash) {
	key, own := p.keyName(kept.key), p.isOwn(kept.path.Last().Type)
	if !kept.leaves {
		variable := p.pathName(f, "stashed", kept.path)
		p.linef("var %s %s", variable, p.runtime("PropertyBag"))
		p.linef("if bag.Take(%s, &%s) {", key, variable)
		p.entered(f.target(), append(slices.Clone(kept.path), plan.Step{}))
		if own {
			p.linef("%s.%s.PropertyBag = %s.OrNil()", f.target(), kept.path, variable)
		}
		p.linef("}")
		return
	}
	value := f.source() + "." + kept.path.String()
	there := present(f.source(), kept.path, true)
	empty := p.runtime("IsZero") + "(" + value + ")"
	bag := p.runtime("PropertyBag") + "{}"
	if own {
		bag = value + ".PropertyBag"
		empty = "(len(" + bag + ") > 0 || " + empty + ")"
	}
	p.linef("if %s && %s {", there, empty)
	p.put(f, kept.key, bag)
	p.linef("} else {")
	p.linef("bag.Remove(%s)", key)
	p.linef("}")
}

// isOwn reports whether a struct, or a pointer to one, is declared by a version of the API.
func (p *printer) isOwn(t *model.Type) bool {
	if t.Kind == model.Pointer {
		t = t.Elem
	}
	return p.versions[t.Package] != nil
}

func (p *printer) put(f flow, key, value string) {
	p.attempt(f, fmt.Sprintf("bag.Put(%s, %s)", p.keyName(key), value))
}

// attempt prints a call that may fail.
func (p *printer) attempt(f flow, call string) {
	from, to := f.versions()
	p.linef("if err := %s; err != nil {", call)
	p.linef("return %s(%s, err)", p.name("fmt", "Errorf"), quoted(fmt.Sprintf("converting %s of %s to %s: %%w", f.pair.Older.Name, from, to)))
	p.linef("}")
}

// derived prints what is stashed after the hook: values that hold good only for what the destination shows now.
func (p *printer) derived(f flow, each *plan.FieldPlan) {
	switch {
	case each.Fate == plan.StashedNewer && basisOf(each) != "" && !f.up:
		p.putDerived(f, each.NewerKey, "src."+each.Newer.String(), basisOf(each))
	case each.Fate == plan.Converted && each.Conversion.Inexact():
		p.linef("if !%s {", exactName(f, each))
		older, newer := p.shown(f, "in", each.From), p.shown(f, choose(f.up, "dst", "src"), each.Newer)
		if f.up {
			p.putDerived(f, each.OlderKey, older, newer)
		} else {
			p.putDerived(f, each.NewerKey, newer, older)
		}
		p.linef("}")
	}
}

func (p *printer) putDerived(f flow, key, value, basis string) {
	p.attempt(f, fmt.Sprintf("%s.PropertyBag.PutDerived(%s, %s, %s)", f.target(), p.keyName(key), value, basis))
}

// basisOf is the expression of what a stash holds good for, in either direction: the older struct is the receiver.
func basisOf(each *plan.FieldPlan) string {
	switch fields := model.Each(each.Basis, func(f *plan.Field) string { return "in." + f.Name() }); len(fields) {
	case 0:
		return ""
	case 1:
		return fields[0]
	default:
		return "[]any{" + strings.Join(fields, ", ") + "}"
	}
}

// keyName is the constant of a bag key.
func (p *printer) keyName(key string) string { return p.keys[key] }

// keyNames chooses the constants of all keys, also of those fields that are left to hooks.
func keyNames(link *plan.Link) map[string]string {
	var keys []string
	for _, pair := range link.Pairs {
		if pair.Functions != nil {
			keys = append(keys, pair.OlderKey(), pair.NewerKey())
		}
		for _, each := range pair.Fields {
			for _, key := range []string{each.OlderKey, each.NewerKey} {
				if key != "" {
					keys = append(keys, key)
				}
			}
		}
		for _, each := range pair.Shared {
			keys = append(keys, each.OlderKey)
		}
		for _, each := range pair.Aliases {
			keys = append(keys, each.OlderKey, each.ShownKey)
		}
	}
	return identifiers("bag", keys)
}

// bagKeys prints the constants of keys.
func (p *printer) bagKeys() {
	if len(p.keys) == 0 {
		return
	}
	var lines []string
	for key, name := range p.keys {
		lines = append(lines, fmt.Sprintf("%s = %s", name, quoted(key)))
	}
	slices.Sort(lines)
	p.linef("// Keys of what is stashed in bags. They stay what they are for as long as objects carry them.")
	p.linef("const (\n%s\n)", strings.Join(lines, "\n"))
	p.linef("")
}
