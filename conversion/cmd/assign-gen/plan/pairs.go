/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/nearest"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// pair finds for each struct the one that it becomes in the next version: by the marker, or by its name.
func (p *planner) pair(link *Link) {
	claimed := make(map[*Struct]*Struct)
	for _, older := range link.Older.Structs {
		name, newer := older.Settings.Name, link.Newer.borrowed(older)
		if name == "" {
			name = older.Declared.Declared().Name
		} else {
			newer = nil
		}
		if newer == nil {
			newer = link.Newer.Struct(name)
		}
		here := older.label()
		switch {
		case newer == nil && older.Settings.Name != "":
			p.problem(problem.NoTypeTarget, here,
				fmt.Sprintf("the type is called %s in %s, which no kind there uses%s", name, where(link.Newer.Package),
					nearest.Suggestion(name, structNames(link.Newer))),
				"correct +conversion:name, or add the type")
			p.unpaired[older] = true
			continue
		case newer == nil:
			continue
		case claimed[newer] != nil && claimed[newer].Declared.Origin == nil && older.Declared.Origin == nil:
			p.problem(problem.TwoSources, here,
				fmt.Sprintf("both this type and %s become %s.%s", claimed[newer].Name, where(link.Newer.Package), name),
				"remove +conversion:name from one of them, or rename the newer type")
			p.unpaired[older] = true
			continue
		}
		claimed[newer] = older
		pair := &Pair{Older: older, Newer: newer, Augmented: older.Settings.Augment, Functions: older.Settings.With}
		for _, field := range older.Fields {
			pair.Augmented = pair.Augmented || field.Settings.ToNext.Strategy == markers.Augment
		}
		p.pairs[older] = pair
		link.Pairs = append(link.Pairs, pair)
	}
}

func structNames(version *Version) []string {
	all := make([]string, len(version.Structs))
	for i, each := range version.Structs {
		all[i] = each.Name
	}
	return all
}
