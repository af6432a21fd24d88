/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// Summary has one line for each version and the next one: how many fields are treated in which way, which of them the other version does not
// show, and the path of the report.
func Summary(all *plan.Plan, report string) string {
	var text strings.Builder
	for _, link := range all.Links {
		copied, decided := 0, 0
		var kept, dropped []string
		for _, pair := range link.Pairs {
			if pair.Functions != nil {
				decided++
			}
			for _, each := range pair.Aliases {
				kept = append(kept, each.Older.Struct.Name+"."+each.Older.Key())
			}
			for _, each := range pair.Fields {
				switch {
				case each.Presence:
				case each.Fate == plan.AugmentedOlder, each.Fate == plan.AugmentedNewer,
					each.Fate == plan.Converted && each.Conversion.Innermost().Rule == plan.ByFunctions:
					decided++
				case each.Fate == plan.Converted:
					copied++
				case each.Fate == plan.DroppedOlder, each.Fate == plan.DroppedNewer:
					dropped = append(dropped, fieldOf(pair, each))
				default:
					kept = append(kept, fieldOf(pair, each))
				}
			}
		}
		fmt.Fprintln(&text, problem.Wrapped(fmt.Sprintf("%s → %s: %s copied, %s, %d decided by hooks or functions, %s; see %s",
			link.Older.Name, link.Newer.Name, problem.Count(copied, "field", "fields"), listed(kept, "kept in the annotation"), decided,
			listed(dropped, "not representable"), report)))
	}
	return text.String()
}

func fieldOf(pair *plan.Pair, each *plan.FieldPlan) string {
	if each.Older != nil {
		return each.Older.Struct.Name + "." + each.Older.Key()
	}
	return pair.Newer.Name + "." + each.Newer.Key()
}

// listed is a number of fields with their names.
func listed(fields []string, fate string) string {
	if fields = slices.Compact(slices.Sorted(slices.Values(fields))); len(fields) > 0 {
		fate += " (" + strings.Join(fields, ", ") + ")"
	}
	return fmt.Sprintf("%d %s", len(fields), fate)
}
