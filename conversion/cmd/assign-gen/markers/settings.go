/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package markers

// Package holds the settings of the markers in a package's doc.go.
type Package struct {
	// Hub reports whether this version is the one that is stored and that all conversions pass through.
	Hub bool
	// Next is the import path of the next newer version; the hub has none.
	Next string
	// Annotation is the key of the annotation that carries what a version cannot show. It is at the hub.
	Annotation string
	// Retired are versions that no longer exist. Their entries in the annotation are pruned.
	Retired []string
	// Former are annotations in which former conversions kept values. Converted objects do not have them.
	Former []string
	// Positional accepts that elements of all lists without a key are recognized by position and content.
	Positional bool
	// With are the functions that convert types of other modules, by the types with their import paths.
	With map[string]*Functions
}

// Type holds the settings of the markers of a type.
type Type struct {
	// Names are the names of the type in the next version, if they differ. It becomes one of them, whichever a field there has.
	Names []string
	// Augment makes the hook mandatory.
	Augment bool
	// Metadata passes the metadata of the object to the hook.
	Metadata bool
	// With are the functions that convert the type, if it is not converted field by field.
	With *Functions
	// Enum maps the values of fields with the type to those of the next version.
	Enum *Enum
	// Skip leaves the type out of conversion altogether.
	Skip bool
	// SkipIn are versions that do not have this kind, on purpose.
	SkipIn []string
}

// Functions are two hand-written functions of the older version's storage package that convert a value there and back.
type Functions struct {
	Up, Down string
	// Metadata passes the metadata of the object to both functions.
	Metadata bool
	// Fixed is the reason for which the functions make something of empty values, if they do.
	Fixed string
}

// Strategy is the treatment of a field, if not the default.
type Strategy string

// The strategies. Without one, the generator converts what it can and stashes what only one side has.
const (
	// Augment leaves the field to the hook, which becomes mandatory.
	Augment Strategy = "augment"
	// Stash keeps the field in the bag even where the other version has a field of that name.
	Stash Strategy = "stash"
	// Drop loses the field. It needs a reason, which is listed in the report.
	Drop Strategy = "drop"
)

// Treatment is a strategy and why it was chosen.
type Treatment struct {
	Strategy Strategy
	Reason   string
	// Fixed reports whether the hook fills the field even if the other version has nothing for it.
	Fixed bool
}

// EnumValue is a value of the older version and what it is called in the newer one.
type EnumValue struct {
	Older, Newer string
}

// Enum maps the values of an enum.
type Enum struct {
	Values []EnumValue
	// Fallback is the older value that stands for newer ones which the older version does not know.
	Fallback string
	// Open reports whether values that only one version declares pass unchanged.
	Open bool
}

// IsOpen reports whether no value changes.
func (e *Enum) IsOpen() bool { return e.Open && e.Values == nil && e.Fallback == "" }

// Field holds the settings of the markers of a field.
type Field struct {
	// Rename is the name of the field in the next version, as a path of field names. If there are several, it is the first one that leads to a
	// field there.
	Rename [][]string
	// Alias is the path of the field of the next version that shows the value if the older field which becomes it is absent.
	Alias []string
	// Flatten has the fields of the struct that the field holds be fields of the struct around it in the next version.
	Flatten bool
	// ToNext is the conversion of the field to the next version.
	ToNext Treatment
	// ToOlder is the conversion of the field to the older version, which has no such field.
	ToOlder Treatment
	// Enum maps values to those of the next version.
	Enum *Enum
	// Unit is the unit of a number that stands for a duration, such as seconds.
	Unit string
	// With are the functions that convert the field to the next version and back.
	With *Functions
	// ZeroIsAbsent reports whether the zero value of the field means that the field is absent, although JSON shows it.
	ZeroIsAbsent bool
	// Sensitive reports whether the field must never be stored in the annotation.
	Sensitive bool
	// Positional accepts that elements of this list are recognized by position and content.
	Positional bool
	// ListMapKeys are the JSON names of the fields that identify the list's elements, KeyMarker is the marker that names them.
	ListMapKeys []string
	KeyMarker   string
}

// IsConverted reports whether no marker keeps the field from becoming one of the next version.
func (f Field) IsConverted() bool { return f.ToNext.Strategy == "" && !f.Flatten && f.Alias == nil }

// HasConversion reports whether a marker names a conversion of the field to the next version.
func (f Field) HasConversion() bool { return f.Enum != nil || f.Unit != "" || f.With != nil }
