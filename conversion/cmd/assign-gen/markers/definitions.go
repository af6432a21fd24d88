/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package markers

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

// definition describes a marker of this generator.
type definition struct {
	name   string
	place  place
	values values
	// example is a right use of the marker, for messages.
	example string
}

const (
	functionsExample = "+conversion:with=UpFunc,DownFunc or +conversion:with=UpFunc,DownFunc,metadata or +conversion:with=UpFunc,DownFunc,fixed=TEXT"
	enumExample      = "+conversion:enum=OLD:NEW,OLD:NEW,fallback=OLD or +conversion:enum=open"
)

// definitions are all markers there are. Another one that begins with one of the prefixes is an error.
var definitions = []definition{
	{"conversion-gen:hub", onPackage, none, "+conversion-gen:hub"},
	{"conversion-gen:next", onPackage, required, "+conversion-gen:next=IMPORT/PATH"},
	{"conversion-gen:annotation", onPackage, required, "+conversion-gen:annotation=conversion.GROUP/properties"},
	{"conversion-gen:retired", onPackage, required, "+conversion-gen:retired=VERSION,VERSION"},
	{"conversion-gen:positional", onPackage, none, "+conversion-gen:positional"},
	{"conversion-gen:with", onPackage, repeated, "+conversion-gen:with=IMPORT/PATH.Type,UpFunc,DownFunc"},
	{"conversion:name", onType, required, "+conversion:name=NewName or +conversion:name=NewName,OtherName"},
	{"conversion:augment", onType, optional, "+conversion:augment or +conversion:augment=metadata"},
	{"conversion:with", onType, required, functionsExample},
	{"conversion:enum", onType, required, enumExample},
	{"conversion:skip", onType, optional, "+conversion:skip or +conversion:skip=VERSION,VERSION"},
	{"conversion:rename", onField, required, "+conversion:rename=NewField or +conversion:rename=Struct.Field"},
	{"conversion:alias", onField, required, "+conversion:alias=NewField or +conversion:alias=Struct.Field"},
	{"conversion:flatten", onField, none, "+conversion:flatten"},
	{"conversion:strategy", onField, required, "+conversion:strategy=augment, =augment,fixed=TEXT, =stash or =drop,reason=TEXT"},
	{"conversion:older", onField, required, "+conversion:older=augment, =augment,fixed=TEXT, =stash or =drop,reason=TEXT"},
	{"conversion:enum", onField, required, enumExample},
	{"conversion:with", onField, required, functionsExample},
	{"conversion:unit", onField, required, "+conversion:unit=seconds"},
	{"conversion:basis", onField, required, "+conversion:basis=OlderField,OlderField"},
	{"conversion:zero", onField, required, "+conversion:zero=absent"},
	{"conversion:sensitive", onField, none, "+conversion:sensitive"},
	{"conversion:positional", onField, none, "+conversion:positional"},
	{"conversion:key", onField, required, "+conversion:key=NAME or +conversion:key=NAME,NAME"},
}

// prefixes are the prefixes of the names of our markers.
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

func (d definition) correct() string { return "write " + d.example }

// names lists all markers of a place.
func names(where place) []string {
	var all []string
	for _, each := range definitions {
		if each.place == where {
			all = append(all, "+"+each.name)
		}
	}
	return all
}
