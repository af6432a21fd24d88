/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package problem holds the problems that assign-gen finds in its input: all of them at once, in a fixed order, each with a code to look
// up, the place, and the ways out.
//
// It finds no problems itself; reading, markers and planning do. For their messages it finds the valid word that is closest to a misspelled one.
package problem

import (
	"cmp"
	"errors"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Code tells kinds of problems apart. Codes are never given to another kind of problem, so that they can be searched for.
type Code string

// The kinds of problems, in the words of what is wrong.
const (
	// NoConversion is for two fields that belong together and whose types no rule converts.
	NoConversion Code = "E01"
	// NoRenameTarget is for a rename to a field that does not exist, or that cannot be reached.
	NoRenameTarget Code = "E02"
	// TwoSources is for a field of the newer version that two fields of the older one claim.
	TwoSources Code = "E03"
	// BrokenChain is for versions whose way to the hub is broken, circular or does not end at the hub.
	BrokenChain Code = "E04"
	// HubCount is for anything but exactly one hub.
	HubCount Code = "E05"
	// SensitiveStash is for a sensitive field that would end up in the annotation.
	SensitiveStash Code = "E06"
	// UnsupportedType is for a type that cannot be carried through a conversion at all.
	UnsupportedType Code = "E07"
	// BadMarker is for a marker that does not exist, is in the wrong place or has a wrong value.
	BadMarker Code = "E08"
	// NoTypeTarget is for a type renamed to one that does not exist.
	NoTypeTarget Code = "E09"
	// EnumNotInvertible is for an enum map whose way back is not unique and that names no fallback.
	EnumNotInvertible Code = "E10"
	// LockChanged is for a released bag key that changed its type or vanished.
	LockChanged Code = "E11"
	// NameCollision is for a type with a method or field that generated code needs the name of.
	NameCollision Code = "E12"
	// KindMissing is for a kind that a version does not have, without a marker that permits it, and for no kind at all.
	KindMissing Code = "E13"
	// NoIdentity is for a list whose elements have something to keep in the bag and cannot be recognized again.
	NoIdentity Code = "E14"
	// SameJSON is for a field that would be stashed although the other version has a field of the same name in JSON.
	SameJSON Code = "E15"
)

// Problem is one thing that is wrong with the input.
type Problem struct {
	Code Code
	// At is the file and line to change. The list that a problem is added to knows those of packages, types and fields.
	At token.Position
	// Where names the package, type or field, and both fields where two are at odds.
	Where string
	// Text describes the problem.
	Text string
	// Fix is the remedy, with alternatives where there are several.
	Fix string
}

// columns is the width that messages are wrapped at.
const columns = 160

// Error returns the problem as compilers print theirs: position, code and name first, the fix on a separate line.
func (p Problem) Error() string {
	text := string(p.Code) + " " + p.Where + ": " + p.Text
	if p.At.IsValid() {
		text = p.At.String() + ": " + text
	}
	return Wrapped(text) + "\n" + Wrapped("    fix: "+p.Fix)
}

// Wrapped breaks a line between words where it is too wide.
func Wrapped(line string) string {
	const indent = "\n        "
	var text strings.Builder
	width := 0
	for i, word := range strings.Split(line, " ") {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width+1+length > columns:
			text.WriteString(indent)
			width = len(indent) - 1
		default:
			text.WriteString(" ")
			width++
		}
		text.WriteString(word)
		width += length
	}
	return text.String()
}

// List collects problems. The zero value is ready for use, and is an error only through Err.
type List struct {
	// Positions are the files and lines of packages, types and fields, by their names in problems.
	Positions map[string]token.Position

	problems []Problem
}

// Add takes a problem into the list. The same problem found on two ways is kept once.
func (l *List) Add(problem Problem) {
	if !problem.At.IsValid() {
		problem.At = l.position(problem.Where)
	}
	if !slices.Contains(l.problems, problem) {
		l.problems = append(l.problems, problem)
	}
}

// position finds the first name of a place, or what contains it: a version lacks what problems say is missing there.
func (l *List) position(where string) token.Position {
	name, _, _ := strings.Cut(where, " ")
	for name = strings.TrimSuffix(name, ","); name != ""; name = name[:max(0, strings.LastIndex(name, "."))] {
		if position, found := l.Positions[name]; found {
			return position
		}
	}
	return token.Position{}
}

// Has reports whether there is a problem of one of these kinds.
func (l *List) Has(codes ...Code) bool {
	return slices.ContainsFunc(l.problems, func(p Problem) bool { return slices.Contains(codes, p.Code) })
}

// Len returns the number of problems.
func (l *List) Len() int { return len(l.problems) }

// All returns the problems sorted by place, then by code.
func (l *List) All() []Problem {
	sorted := slices.Clone(l.problems)
	slices.SortFunc(sorted, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.At.Filename, b.At.Filename), cmp.Compare(a.At.Line, b.At.Line), cmp.Compare(a.Where, b.Where),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Text, b.Text))
	})
	return sorted
}

// Err returns nil when there is no problem, and otherwise one error whose text holds all of them, sorted.
func (l *List) Err() error {
	var all []error
	for _, problem := range l.All() {
		all = append(all, problem)
	}
	return errors.Join(all...)
}

// Nearest returns the candidate that is closest to word, and whether one is close enough to be what was meant: at most a
// third of its letters differ, and at least one may. Of equally close candidates the first is taken.
func Nearest(word string, candidates []string) (candidate string, found bool) {
	best := max(1, len(word)/3) + 1
	for _, each := range candidates {
		if d := distance(word, each); d < best {
			best, candidate, found = d, each, true
		}
	}
	return candidate, found
}

// Suggestion returns the closest candidate as the end of a sentence, or nothing when none is close.
func Suggestion(word string, candidates []string) string {
	if candidate, found := Nearest(word, candidates); found {
		return "; did you mean " + strconv.Quote(candidate) + "?"
	}
	return ""
}

// distance counts the letters that have to be inserted, deleted or replaced to turn one word into the other, and two
// swapped neighbors as one.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replaced := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			rows[i][j] = min(replaced, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// Count returns a number of things with the words for one or many of them.
func Count(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}
