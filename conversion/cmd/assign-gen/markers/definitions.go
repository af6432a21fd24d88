/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package markers

import (
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// place is the kind of declaration that a marker may be at.
type place string

const (
	onPackage place = "the package clause in doc.go"
	onType    place = "a type"
	onField   place = "a field"
)

// values reports whether a marker takes a value.
type values int

const (
	none values = iota
	optional
	required
	// repeated is required for a marker that may stand several times.
	repeated
)

type definition struct {
	name   string
	place  place
	values values
	// uses are right values of the marker, for messages.
	uses string
	// read takes the marker into the settings of its place.
	read func(s *settings, r reader)
}

// settings are those of a place, of which only the part for its kind is used.
type settings struct {
	ofPackage Package
	ofType    Type
	ofField   Field
}

const (
	withUses     = "UpFunc,DownFunc|UpFunc,DownFunc,metadata|UpFunc,DownFunc,fixed=TEXT"
	enumUses     = "OLD:NEW,OLD:NEW,fallback=OLD|open"
	strategyUses = "augment, =augment,fixed=TEXT, =stash or =drop,reason=TEXT"
)

// definitions are all markers there are. Another one that begins with one of the prefixes is an error.
var definitions = []definition{
	{"conversion-gen:hub", onPackage, none, "", func(s *settings, _ reader) { s.ofPackage.Hub = true }},
	{"conversion-gen:next", onPackage, required, "IMPORT/PATH", func(s *settings, r reader) { s.ofPackage.Next = r.Value }},
	{"conversion-gen:annotation", onPackage, required, "conversion.GROUP/properties", func(s *settings, r reader) { s.ofPackage.Annotation = r.Value }},
	{"conversion-gen:retired", onPackage, required, "VERSION,VERSION", func(s *settings, r reader) { s.ofPackage.Retired = list(r.Value) }},
	{"conversion-gen:former", onPackage, required, "ANNOTATION,ANNOTATION", func(s *settings, r reader) { s.ofPackage.Former = list(r.Value) }},
	{"conversion-gen:positional", onPackage, none, "", func(s *settings, _ reader) { s.ofPackage.Positional = true }},
	{"conversion-gen:with", onPackage, repeated, "IMPORT/PATH.Type,UpFunc,DownFunc", func(s *settings, r reader) { r.addFunctions(&s.ofPackage) }},
	{"conversion:name", onType, required, "NewName|NewName,OtherName", func(s *settings, r reader) { s.ofType.Names = list(r.Value) }},
	{"conversion:augment", onType, optional, "|metadata", func(s *settings, r reader) {
		s.ofType.Augment, s.ofType.Metadata = true, r.oneOf("", metadataOption) != ""
	}},
	{"conversion:with", onType, required, withUses, func(s *settings, r reader) { s.ofType.With = r.functions() }},
	{"conversion:enum", onType, required, enumUses, func(s *settings, r reader) { s.ofType.Enum = r.enum() }},
	{"conversion:skip", onType, optional, "|VERSION,VERSION", func(s *settings, r reader) { s.ofType.Skip, s.ofType.SkipIn = r.skipped() }},
	{"conversion:rename", onField, required, "NewField|Struct.Field", func(s *settings, r reader) { s.ofField.Rename = r.paths() }},
	{"conversion:alias", onField, required, "NewField|Struct.Field", func(s *settings, r reader) { s.ofField.Alias = strings.Split(r.Value, ".") }},
	{"conversion:flatten", onField, none, "", func(s *settings, _ reader) { s.ofField.Flatten = true }},
	{"conversion:strategy", onField, required, strategyUses, func(s *settings, r reader) { s.ofField.ToNext = r.treatment() }},
	{"conversion:older", onField, required, strategyUses, func(s *settings, r reader) { s.ofField.ToOlder = r.treatment() }},
	{"conversion:enum", onField, required, enumUses, func(s *settings, r reader) { s.ofField.Enum = r.enum() }},
	{"conversion:with", onField, required, withUses, func(s *settings, r reader) { s.ofField.With = r.functions() }},
	{"conversion:unit", onField, required, strings.Join(units, "|"), func(s *settings, r reader) { s.ofField.Unit = r.oneOf(units...) }},
	{"conversion:zero", onField, required, "absent", func(s *settings, r reader) { s.ofField.ZeroIsAbsent = r.oneOf("absent") != "" }},
	{"conversion:sensitive", onField, none, "", func(s *settings, _ reader) { s.ofField.Sensitive = true }},
	{"conversion:positional", onField, none, "", func(s *settings, _ reader) { s.ofField.Positional = true }},
	{"conversion:key", onField, required, "NAME|NAME,NAME", func(s *settings, r reader) { s.ofField.ListMapKeys = list(r.Value) }},
}

var prefixes = []string{"conversion", "conversion-gen"}

// define returns the declaration of a marker for a place, or else the one for another place.
func define(name string, here place) (known definition, ok bool) {
	for _, each := range definitions {
		if each.name == name && (!ok || each.place == here) {
			known, ok = each, true
		}
	}
	return known, ok
}

// correct is the fix of a marker that has a wrong value.
func (d definition) correct() string {
	uses := model.Each(strings.Split(d.uses, "|"), func(value string) string { return strings.TrimSuffix("+"+d.name+"="+value, "=") })
	return "write " + strings.Join(uses, " or ")
}

func names(where place) []string {
	var all []string
	for _, each := range definitions {
		if each.place == where {
			all = append(all, "+"+each.name)
		}
	}
	return all
}
