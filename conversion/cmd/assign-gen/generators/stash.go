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

// stash holds the parts that are kept of a struct that only one version has, in one direction.
type stash struct {
	key  string
	path plan.Path
	// leaves reports whether the conversion leaves the version that has the struct.
	leaves bool
	// value is the expression of the field.
	value string
}

// stashed prints how a field that only one version has is kept in the bag, or taken from it.
func (p *printer) stashed(f flow, each *plan.FieldPlan) {
	kept := stash{key: each.NewerKey, path: each.Newer, leaves: !f.up}
	if each.Fate == plan.StashedOlder {
		kept = stash{key: each.OlderKey, path: each.From, leaves: f.up}
	}
	kept.value = choose(kept.leaves, f.source(), f.target()) + "." + kept.path.String()
	switch {
	case each.Presence:
		p.stashedPresence(f, kept)
	case len(kept.path) > 1:
		p.stashedInside(f, kept)
	case kept.leaves:
		p.put(f, kept.key, kept.value)
	default:
		p.linef("bag.Take(%s, &%s)", p.keyName(kept.key), kept.value)
	}
}

// stashedInside stashes a part of a struct of which other parts have separate fields in the other version.
func (p *printer) stashedInside(f flow, kept stash) {
	if kept.leaves {
		p.putIf(f, kept.key, present(f.source(), kept.path, kept.path.Last().Type.Nilable()), kept.value)
		return
	}
	variable := p.taken(f, kept, p.storage(kept.path.Last().Type), kept.path)
	p.linef("%s = %s\n}", kept.value, variable)
}

// stashedPresence stashes the bag of a struct whose fields the other version has elsewhere, and one with nothing in it, which
// these fields would not tell from none.
func (p *printer) stashedPresence(f flow, kept stash) {
	own := p.isOwn(kept.path.Last().Type)
	if !kept.leaves {
		variable := p.taken(f, kept, p.runtime("PropertyBag"), append(slices.Clone(kept.path), plan.Step{}))
		if own {
			p.linef("%s.PropertyBag = %s.OrNil()", kept.value, variable)
		}
		p.linef("}")
		return
	}
	empty, bag := p.runtime("IsZero")+"("+kept.value+")", p.runtime("PropertyBag")+"{}"
	if own {
		bag = kept.value + ".PropertyBag"
		empty = "(len(" + bag + ") > 0 || " + empty + ")"
	}
	p.putIf(f, kept.key, present(f.source(), kept.path, true)+" && "+empty, bag)
}

// taken begins a block for what the bag has under a key, in which the structs on a path exist. It returns the variable that holds the value.
func (p *printer) taken(f flow, kept stash, valueType string, path plan.Path) (variable string) {
	variable = p.pathName(f, "stashed", kept.path)
	p.linef("var %s %s", variable, valueType)
	p.linef("if bag.Take(%s, &%s) {", p.keyName(kept.key), variable)
	p.entered(f.target(), path)
	return variable
}

// putIf puts a value into the bag on a condition, and otherwise removes it from there.
func (p *printer) putIf(f flow, key, condition, value string) {
	p.linef("if %s {", condition)
	p.put(f, key, value)
	p.linef("} else {")
	p.linef("bag.Remove(%s)", p.keyName(key))
	p.linef("}")
}

// isOwn reports whether a struct, or a pointer to one, is declared by a version of the API.
func (p *printer) isOwn(t *model.Type) bool {
	return p.versions[t.Pointed().Package] != nil
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
	if each.Fate != plan.Converted || !each.Conversion.Inexact() {
		return
	}
	p.linef("if !%s {", exactName(f, each))
	prefix := choose(each.From.String() == each.Newer.String(), "newer", "shown") // the two are variables of one block
	older, newer := p.shown(f, "shown", "in", each.From), p.shown(f, prefix, choose(f.up, "dst", "src"), each.Newer)
	if f.up {
		p.putDerived(f, each.OlderKey, older, newer)
	} else {
		p.putDerived(f, each.NewerKey, newer, older)
	}
	p.linef("}")
}

func (p *printer) putDerived(f flow, key, value, basis string) {
	p.attempt(f, fmt.Sprintf("%s.PropertyBag.PutDerived(%s, %s, %s)", f.target(), p.keyName(key), value, basis))
}

func (p *printer) keyName(key string) string { return p.keys[key] }

// keyNames chooses the constants of all keys, also of those fields that are left to hooks.
func keyNames(link *plan.Link) map[string]string {
	var keys []string
	for _, pair := range link.Pairs {
		if pair.Functions != nil {
			keys = append(keys, pair.OlderKey(), pair.NewerKey())
		}
		for _, each := range pair.Fields {
			keys = append(keys, each.OlderKey, each.NewerKey)
		}
		for _, each := range pair.Shared {
			keys = append(keys, each.OlderKey)
		}
		for _, each := range pair.Aliases {
			keys = append(keys, each.OlderKey, each.ShownKey)
		}
	}
	return identifiers("bag", slices.DeleteFunc(keys, func(key string) bool { return key == "" }))
}

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
