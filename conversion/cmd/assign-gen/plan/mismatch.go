/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// Two types that have no conversion often meet in many fields. That is one problem.

// mismatch are two named types without a conversion.
type mismatch struct {
	older, newer *model.Type
	// foreign reports whether the older type is declared by another module, so that it cannot have a marker.
	foreign bool
	// label and reason are those of the first field, more is how many others there are.
	label, reason string
	more          int
}

// noteMismatch remembers two types for the message, if they have names.
func (c *converter) noteMismatch(older, newer *model.Type) {
	if older.Kind == model.Named && newer.Kind == model.Named {
		c.mismatch = &mismatch{older: older, newer: newer, foreign: !c.isOlder(older)}
	}
}

// noConversion reports a field without a conversion, once for all fields with the same types.
func (p *planner) noConversion(found *mismatch, label, reason string) {
	if found == nil {
		p.problem(problem.NoConversion, label, reason, noConversionFix)
		return
	}
	known := model.Find(p.mismatches, func(m *mismatch) bool { return m.older.Same(found.older) && m.newer.Same(found.newer) })
	if known != nil {
		known.more++
		return
	}
	found.label, found.reason = label, reason
	p.mismatches = append(p.mismatches, found)
}

const noConversionFix = "convert it by functions (+conversion:with=UpFunc,DownFunc) or a hook (+conversion:strategy=augment), " +
	"or keep both apart (+conversion:strategy=stash)"

func (p *planner) reportMismatches() {
	for _, each := range p.mismatches {
		text, fix := each.reason, noConversionFix
		if each.more > 0 {
			text += "; " + problem.Count(each.more, "more field has these types", "more fields have these types")
		}
		if each.foreign {
			fix += fmt.Sprintf("; for all fields with these types, add +conversion-gen:with=%s,UpFunc,DownFunc to doc.go", fullName(each.older))
		}
		p.problem(problem.NoConversion, each.label, text, fix)
	}
}

func fullName(t *model.Type) string { return t.Package + "." + t.Name }
