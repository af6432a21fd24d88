/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package record

import (
	"fmt"
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
				keepPresence(link, pair, each, lines)
				keepStash(link, pair, each, lines)
			}
		}
	}
}

func keepPresence(link *plan.Link, pair *plan.Pair, each *plan.FieldPlan, lines []string) {
	released := *each
	released.NewerKey = link.Newer.Name + "/" + each.Newer.String()
	if each.Presence && each.Fate == plan.StashedNewer && slices.Contains(lines, (&lockWriter{}).fieldLines(link, pair, &released)[0]) {
		each.NewerKey = released.NewerKey
	}
}

// keepStash names the keys of a field that both versions show, and that a release has stashed.
func keepStash(link *plan.Link, pair *plan.Pair, each *plan.FieldPlan, lines []string) {
	if each.Fate != plan.Converted || each.Conversion.Rule == plan.OfKeys {
		return
	}
	isStashed := func(at *plan.Struct, key string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			entry, value, _ := cutEntry(line)
			_, kept := parseValue(value)
			return entry == at.Version.Name+" "+at.Name+" "+key && kept == ""
		})
	}
	if key := link.Older.Name + "/" + each.From.Key(); isStashed(pair.Newer, key) {
		each.OlderKey, each.OlderStashed = key, true
	}
	if key := link.Newer.Name + "/" + each.Newer.Key(); isStashed(pair.Older, key) {
		each.NewerKey, each.NewerStashed = key, true
	}
}

// stashes are the released lines of fields that were stashed and for which a conversion was found later. Objects may carry either.
func stashes(released, now []string) []string {
	var all []string
	for _, line := range released {
		_, value, isEntry := cutEntry(line)
		_, kept := parseValue(value)
		isDerived := func(other string) bool {
			_, value, _ := cutEntry(other)
			_, kept := parseValue(value)
			return entryOf(other) == entryOf(line) && kept == derived
		}
		if isEntry && kept == "" && slices.ContainsFunc(now, isDerived) {
			all = append(all, line)
		}
	}
	return all
}

// orderLine is the entry of the order of a list that is a map in the other version.
func (w *lockWriter) orderLine(link *plan.Link, pair *plan.Pair, each *plan.FieldPlan) []string {
	at, key, list, in := pair.Older, each.NewerKey, each.Conversion.Newer, link.Newer
	if key == "" {
		at, key, list, in = pair.Newer, each.OlderKey, each.Conversion.Older, link.Older
	}
	return []string{fmt.Sprintf("%s %s %s [{e:%s,k:string}] order", at.Version.Name, at.Name, key, w.jsonOf(list.Elem, in, nil))}
}
