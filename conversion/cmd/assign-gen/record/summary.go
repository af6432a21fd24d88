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
		fmt.Fprintf(&text, "%s → %s: %s copied, %d kept in the annotation%s, %d decided by hooks or functions, %d not representable%s; see %s\n",
			link.Older.Name, link.Newer.Name, count(copied, "field", "fields"), len(kept), named(kept), decided, len(dropped), named(dropped), report)
	}
	return text.String()
}

func fieldOf(pair *plan.Pair, each *plan.FieldPlan) string {
	if each.Older != nil {
		return each.Older.Struct.Name + "." + each.Older.Key()
	}
	return pair.Newer.Name + "." + each.Newer.Key()
}

// named is a list of some fields in parentheses.
func named(fields []string) string {
	const shown = 5
	fields = slices.Compact(slices.Sorted(slices.Values(fields)))
	switch more := len(fields) - shown; {
	case len(fields) == 0:
		return ""
	case more > 0:
		return fmt.Sprintf(" (%s and %d more)", strings.Join(fields[:shown], ", "), more)
	default:
		return " (" + strings.Join(fields, ", ") + ")"
	}
}
