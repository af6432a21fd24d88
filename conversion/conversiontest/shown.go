/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion"
)

// The oracle of what a version shows knows the types of both versions and their JSON, and nothing of what assign-gen planned. Where both
// types have the same field in JSON, of the same type, and no marker, function or hook decides about it, a client of one version reads what it
// would get if it read the JSON of the other version.

// shownAlike compares random objects of a with what b shows of them.
func (k Kind) shownAlike(t *testing.T, annotation string, a, b Version) {
	t.Helper()
	random := k.random(t)
	alike, _ := k.alike(a, b)
	for range shareOf(k.inputs) {
		object := canonical(t, random.object(t, a))
		if path, difference := k.shownWrong(t, alike, object, annotation, a, b); difference != "" {
			t.Fatalf("%s of %s is shown wrong at %s: %s\nif that is meant, a marker has to declare it\nobject  %s\nshown   %s",
				path, a.Name, b.Name, difference, cut(object), cut(canonical(t, k.converted(t, object, a, b))))
		}
	}
}

// shownWrong returns the path of a value that b shows otherwise than a, and a description.
func (k Kind) shownWrong(t *testing.T, alike *same, object, annotation string, a, b Version) (path, difference string) {
	t.Helper()
	source, shown := read(t, object), read(t, b.withoutNull(t, visible(t, canonical(t, k.converted(t, object, a, b)), annotation)))
	removeEntry(shown, "labels", conversion.Annotation{Name: annotation}.TruncatedLabel())
	// A struct in which everything is zero may stand for nothing, or for itself.
	const sides = 2
	wants := make([]any, 0, sides)
	for _, side := range []int{whether, before} {
		if part := canonical(t, alike.part(source, side)); b.accepts(part) {
			wants = append(wants, alike.part(read(t, b.withoutNull(t, canonical(t, parsed(t, part, b)))), after))
		}
	}
	if len(wants) < sides {
		return "", "" // b rejects the object
	}
	return alike.difference("", source, wants[0], wants[1], alike.part(shown, after))
}

// part returns the part of an object of a or b that is alike. A struct in which everything is zero is left out, and so is null: for versions that hold them
// otherwise they are nothing.
func (s *same) part(value any, side int) any {
	switch value := value.(type) {
	case whole:
		if s.fields == nil && s.elem == nil {
			return value
		}
		result := make(whole)
		for name, each := range value {
			if inner := s.at(name); inner != nil && (s.fields == nil || !inner.isNothing(each, side) && !s.isInlinedZero(name, value, side)) {
				result[name] = inner.part(each, side)
			}
		}
		return result
	case []any:
		if s.elem == nil {
			return value
		}
		result := []any{}
		for _, each := range value {
			result = append(result, s.elem.part(each, side))
		}
		return result
	default:
		return value
	}
}

// at returns the common part at a name, which is a field's or a key's.
func (s *same) at(name string) *same {
	if s.fields == nil {
		return s.elem
	}
	return s.fields[name]
}

// isNothing reports whether a value of a field is null, or a struct in which everything is zero: at b, everything that is alike.
func (s *same) isNothing(value any, side int) bool {
	if side == whether {
		return value == nil
	}
	zero := s.zero[side]
	if side == after && s.fields != nil {
		value, zero = s.part(value, side), s.part(zero, side)
	}
	object, isObject := value.(whole)
	return value == nil || zero != nil && reflect.DeepEqual(value, zero) || isObject && s.fields != nil && len(object) == 0
}

// isInlinedZero reports whether everything is zero in the struct that an object of a inlines and that has the field.
func (s *same) isInlinedZero(name string, object whole, side int) bool {
	zero, _ := s.zero[before].(whole)
	for other, in := range s.inlined {
		if in == s.inlined[name] && !reflect.DeepEqual(object[other], zero[other]) {
			return false
		}
	}
	return side == before && s.inlined[name] != nil
}

// difference returns the path of the first difference of two parts of objects, and its description. The source is the object at the other version.
// Either is the part as it would be if structs in which everything is zero were absent before.
func (s *same) difference(path string, source, want, either, got any) (at, text string) {
	wanted, isObject := want.(whole)
	others, _ := either.(whole)
	shown, isShown := got.(whole)
	from, _ := source.(whole)
	list, isList := want.([]any)
	shownList, isShownList := got.([]any)
	otherList, _ := either.([]any)
	sources, _ := source.([]any)
	switch {
	case s == nil || s.fields == nil && s.elem == nil:
		return s.leafDifference(path, source, want, either, got)
	case isObject && isShown:
		for _, name := range slices.Sorted(maps.Keys(union(wanted, shown))) {
			if at, text = s.at(name).difference(path+"."+name, from[name], wanted[name], others[name], shown[name]); text != "" {
				return at, text
			}
		}
	case isList && isShownList && len(list) == len(shownList) && len(list) == len(sources) && len(list) == len(otherList):
		for i := range list {
			if at, text = s.elem.difference(fmt.Sprintf("%s[%d]", path, i), sources[i], list[i], otherList[i], shownList[i]); text != "" {
				return at, text
			}
		}
	default:
		return s.leafDifference(path, source, want, either, got)
	}
	return "", ""
}

func (s *same) leafDifference(path string, source, want, either, got any) (at, text string) {
	if !reflect.DeepEqual(want, got) && !reflect.DeepEqual(either, got) {
		return strings.TrimPrefix(path, "."), fmt.Sprintf("want %s, got %s", cut(inText(want)), cut(inText(got)))
	}
	value, isText := got.(string)
	if s != nil && isText && value != "" && s.known[after] != nil && slices.Contains(s.known[before], fmt.Sprint(source)) &&
		!slices.Contains(s.known[after], value) {
		return strings.TrimPrefix(path, "."), fmt.Sprintf("%q, and the version declares only %s", value, strings.Join(s.known[after], ", "))
	}
	return "", ""
}

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
