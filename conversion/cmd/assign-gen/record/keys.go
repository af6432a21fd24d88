/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package record

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
)

// KeepKeys has a plan use the keys of a lock that objects carry. Earlier releases called the key of what belongs to a struct as a whole
// after its path in Go. And they stashed fields for which a conversion was found later.
func KeepKeys(all *plan.Plan, earlier string) {
	lines := releasedLines(earlier)
	for _, link := range all.Links {
		for _, pair := range link.Pairs {
			for _, each := range pair.Fields {
				keepPresence(pair, each, lines)
				keepStash(pair, each, lines)
			}
		}
	}
}

func keepPresence(pair *plan.Pair, each *plan.FieldPlan, lines []string) {
	key := pair.Newer.Version.Name + "/" + each.Newer.String()
	if each.Presence && each.Fate == plan.StashedNewer && slices.Contains(lines, entry(pair.Older, key)+" bag") {
		each.NewerKey = key
	}
}

// keepStash names the keys of a field that both versions show, and that a release has stashed.
func keepStash(pair *plan.Pair, each *plan.FieldPlan, lines []string) {
	if each.Fate != plan.Converted || each.Conversion.Rule == plan.OfKeys {
		return
	}
	isStashed := func(at *plan.Struct, key string) bool {
		return slices.ContainsFunc(lines, func(line string) bool { return isKept(line, entry(at, key), "") })
	}
	if key := pair.Older.Version.Name + "/" + each.From.Key(); isStashed(pair.Newer, key) {
		each.OlderKey, each.OlderStashed = key, true
	}
	if key := pair.Newer.Version.Name + "/" + each.Newer.Key(); isStashed(pair.Older, key) {
		each.NewerKey, each.NewerStashed = key, true
	}
}

// isKept reports whether a line is about an entry whose value is kept in a way.
func isKept(line, of, way string) bool {
	found, value, ok := cutEntry(line)
	_, kept := parseValue(value)
	return ok && found == of && kept == way
}

// stashes are the released lines of fields that were stashed and for which a conversion was found later. Objects may carry either.
func stashes(released, now []string) []string {
	var all []string
	for _, line := range released {
		isDerived := func(other string) bool { return isKept(other, entryOf(line), derived) }
		if isKept(line, entryOf(line), "") && slices.ContainsFunc(now, isDerived) {
			all = append(all, line)
		}
	}
	return all
}
