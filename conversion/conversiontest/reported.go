/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// apart is a field that two versions do not show alike: one of them lacks it, has another type there, or something else decides about it.
type apart struct {
	json string
	// fields are those of each version that has one.
	fields [2]inJSON
}

// reported expects that the report of assign-gen lists each field that the other version does not show alike.
func (k Kind) reported(t *testing.T, older, newer Version) {
	t.Helper()
	report, err := os.ReadFile(k.Report)
	if err != nil {
		t.Fatal(err)
	}
	_, link, ok := strings.Cut(string(report), "\n## "+older.Name+" → "+newer.Name+"\n")
	if !ok {
		t.Fatalf("%s has nothing about %s and %s", k.Report, older.Name, newer.Name)
	}
	link, _, _ = strings.Cut(link, "\n## ")
	_, fields := k.alike(older, newer)
	for name, each := range fields {
		if !each.isIn(link, before) && !each.isIn(link, after) {
			t.Errorf("%s is not the same at %s and %s, and %s does not list it: mark what a hook sets, or its type with +conversion:augment", name, older.Name,
				newer.Name, k.Report)
		}
	}
}

// cellsOfField find the names of fields of a version in the report: those in JSON, or paths in Go.
var cellsOfField = [2]*regexp.Regexp{
	before: regexp.MustCompile("(?m)^\\| `([^`]*)`"),
	after:  regexp.MustCompile("(?m)^\\|[^|]*\\| `([^`]*)`"),
}

// isIn reports whether the part of the report about two versions lists the field: in the table of its struct, by a path from another one, or with all
// of its struct.
func (a apart) isIn(link string, side int) bool {
	field := a.fields[side]
	if field.Type == nil {
		return false
	}
	for section := range strings.SplitSeq(link, "\n### ") {
		title, content, _ := strings.Cut(section, "\n")
		names := strings.Split(strings.TrimSuffix(title, " (augmented by a hook)"), " → ")
		name := []string{names[0], names[len(names)-1]}[side]
		isOwn, isWhole := name == field.in.Name(), strings.HasSuffix(title, ")") || strings.Contains(content, "\nEach is ")
		if isWhole && (isOwn || name == heldBy(field.Type).Name()) || strings.Contains(content, "- `"+field.in.Name()+"` is only in ") {
			return true
		}
		for _, match := range cellsOfField[side].FindAllStringSubmatch(content, -1) {
			path := strings.Split(match[1], ".")
			if isOwn && match[1] == a.json || (isOwn || len(path) > 1) && slices.Contains(path, field.Name) {
				return true
			}
		}
	}
	return false
}
