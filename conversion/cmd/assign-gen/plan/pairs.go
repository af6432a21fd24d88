/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"fmt"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// pair finds for each struct what it becomes in the next version: by the marker, or by its name.
func (p *planner) pair(link *Link) {
	claimed := make(map[*Struct]*Struct)
	for _, older := range link.Older.Structs {
		names := older.Settings.Names
		p.onlyOne(older)
		if names == nil {
			if newer := cmp.Or(link.Newer.borrowed(older), link.Newer.Struct(older.Declared.Declared().Name)); newer != nil {
				p.claim(link, older, newer, claimed)
			}
			continue
		}
		for _, name := range names {
			newer := link.Newer.Struct(name)
			if newer == nil {
				p.problem(problem.NoTypeTarget, older.label(),
					fmt.Sprintf("the type is called %s in %s, which no kind there uses%s", name, where(link.Newer.Package),
						problem.Suggestion(name, model.Each(link.Newer.Structs, func(s *Struct) string { return s.Name }))),
					"correct +conversion:name, or add the type")
				p.unpaired[older] = true
				continue
			}
			p.claim(link, older, newer, claimed)
		}
	}
}

// onlyOne reports a struct with several names that has to have one.
func (p *planner) onlyOne(older *Struct) {
	switch {
	case !older.several():
	case older.Root:
		p.problem(problem.BadMarker, older.label(), "a kind becomes one kind, and +conversion:name has several", "keep one name")
	case older.Settings.With != nil:
		p.problem(problem.BadMarker, older.label(), "functions convert the type to one other type, and +conversion:name has several",
			"move +conversion:with to the fields that hold the type")
	}
}

func (s *Struct) several() bool { return len(s.Settings.Names) > 1 }

// claim has an older struct become a newer one.
func (p *planner) claim(link *Link, older, newer *Struct, claimed map[*Struct]*Struct) {
	if other := claimed[newer]; other != nil && other.Declared.Origin == nil && older.Declared.Origin == nil {
		p.problem(problem.TwoSources, older.label(),
			fmt.Sprintf("both this type and %s become %s.%s", other.Name, where(link.Newer.Package), newer.Name),
			"remove +conversion:name from one of them, or rename the newer type")
		p.unpaired[older] = true
		return
	}
	claimed[newer] = older
	pair := &Pair{
		Older: older, Newer: newer, Several: older.several(), Augmented: older.Settings.Augment, Functions: older.Settings.With,
	}
	p.pairs[older] = append(p.pairs[older], pair)
	link.Pairs = append(link.Pairs, pair)
}
