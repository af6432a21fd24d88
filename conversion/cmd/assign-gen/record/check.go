/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package record

import (
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/plan"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// CheckLock compares a plan with the lock of an earlier run, named file. A released line whose value could not be read any more is a
// problem, unless it is about a version that is retired.
func CheckLock(all *plan.Plan, file, earlier string) error {
	var problems problem.List
	released, now := releasedLines(earlier), lockLines(all)
	before, types := typesIn(released), typesIn(now)
	for i, line := range released {
		if line == "" || strings.HasPrefix(line, typeEntry) {
			continue
		}
		found := problem.Problem{Code: problem.LockChanged, At: token.Position{Filename: file, Line: i + 1}, Where: entryOf(line)}
		_, value, ok := cutEntry(line)
		switch {
		case !ok:
			found.Where, found.Text, found.Fix = filepath.Base(file), fmt.Sprintf("the line %q is not an entry of a lock", line), "restore the file"
			problems.Add(found)
		case !isRetired(found.Where, all.Retired):
			if found.Text = changed(found.Where, value, now, before, types); found.Text != "" {
				found.Fix = "keep the field's name, type and markers; or, if one of the versions was removed, name it in +conversion-gen:retired"
				if all.Selected {
					found.Fix += "; or, if --kinds leaves its kind out, add the kind there"
				}
				problems.Add(found)
			}
		}
	}
	return problems.Err()
}

// changed describes why the value of a released line could no longer be read, or returns nothing if it can be. Several structs may have one entry.
func changed(entry, value string, now []string, before, types map[string]string) string {
	is, _ := parseValue(value)
	text := fmt.Sprintf("released objects carry %s, which would no longer be read", is)
	for _, line := range now {
		if entryOf(line) != entry {
			continue
		}
		_, current, _ := cutEntry(line)
		if text = difference(value, current, before, types); text == "" {
			return ""
		}
	}
	return text
}

// difference compares two values: their shapes, and in what way they are kept.
func difference(value, current string, before, types map[string]string) string {
	was, wasKept := parseValue(value)
	is, isKept := parseValue(current)
	switch {
	case is.name == byHook:
		return "" // a hook takes whatever it finds
	case was.name == byHook && isKept == derived:
		return "" // which takes the same if it was derived from the same field
	case wasKept == "" && isKept == derived:
		wasKept = isKept // a stash holds good for a field that is absent
	}
	c := comparison{before: before, now: types}
	c.shapes("", was, is)
	switch {
	case len(c.found) == 0 && wasKept == isKept:
		return ""
	case len(c.found) == 0:
		return fmt.Sprintf("released objects carry a value that is kept %s, and it would be kept %s", keptInWords(wasKept), keptInWords(isKept))
	case len(c.found) == 1:
		return c.found[0]
	default:
		return c.found[0] + "; " + problem.Count(len(c.found)-1, "more member", "more members") + " changed"
	}
}

func keptInWords(kept string) string {
	if kept == "" {
		return "whatever the other version shows"
	}
	return "in addition to the value at the other version"
}

// typesIn are the shapes of types of other modules that lines describe, by their names.
func typesIn(lines []string) map[string]string {
	types := make(map[string]string)
	for _, line := range lines {
		if text, ok := strings.CutPrefix(line, typeEntry); ok {
			name, shape, _ := strings.Cut(text, " ")
			types[name] = shape
		}
	}
	return types
}

// entryOf returns the identity of a line: the version, struct and key, or the name of a type.
func entryOf(line string) string {
	if text, ok := strings.CutPrefix(line, typeEntry); ok {
		name, _, _ := strings.Cut(text, " ")
		return typeEntry + name
	}
	entry, _, _ := cutEntry(line)
	return entry
}

// cutEntry splits a line into version, struct and key, and the description of the value.
func cutEntry(line string) (entry, value string, ok bool) {
	const parts = 4
	words := strings.SplitN(line, " ", parts)
	if len(words) < parts {
		return "", "", false
	}
	return strings.Join(words[:parts-1], " "), words[parts-1], true
}

func isRetired(entry string, retired []string) bool {
	words := strings.Fields(entry)
	owner, _, _ := strings.Cut(words[2], "/")
	return slices.Contains(retired, words[0]) || slices.Contains(retired, owner)
}
