/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package model

import (
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Package is one version of an API.
type Package struct {
	// Path is the import path, Name the name in the package clause, Dir the folder.
	Path, Name, Dir string
	// Markers are the lines of doc.go that begin with a plus sign.
	Markers []Marker
	// Types are the types that the package declares, sorted by name, each with Kind Named.
	Types []*Type
	// Stray are markers of ours in comments that belong to no package clause, exported type or field. They are not read.
	Stray []Marker
	// Positions are the files and lines of the package clause, "", of types, "Type", and of fields, "Type.Field".
	Positions map[string]token.Position
}

// Type returns the type that the package declares under a name, or nil.
func (p *Package) Type(name string) *Type {
	return Find(p.Types, func(t *Type) bool { return t.Name == name })
}

// Marker is a comment line that begins with a plus sign.
type Marker struct {
	// Name is the text before the first equals sign, without the plus sign.
	Name string
	// Value is the text after it.
	Value string
	// Position is the file and line of a stray marker.
	Position token.Position
}

// Kind selects the fields of a Type that are set.
type Kind int

// The kinds of types.
const (
	// Unsupported is everything that JSON or a deep copy cannot carry; Name says what it is.
	Unsupported Kind = iota
	// Basic is a builtin type of Go, named by Name.
	Basic
	// Named is a declared type: Package, Name, Underlying.
	Named
	// Pointer, Slice, Array and Map have an Elem; a Map has a Key and an Array a Len.
	Pointer
	Slice
	Array
	Map
	// Struct has Fields. It is what is under a Named type; a struct without a name is Unsupported.
	Struct
)

// Type is a Go type. The types of a package refer to each other, and may do so in circles.
type Type struct {
	Kind Kind
	Name string

	// Package is the import path and PackageName the name of the package that declares a Named type.
	Package, PackageName string
	// Origin is the type of another version that a version uses as if it declared the same type itself, or nil.
	Origin *Type
	// Underlying is the declared type of a Named type, never itself Named.
	Underlying *Type
	// Markers are those of the type's comment.
	Markers []Marker
	// Methods are the names of the methods of a Named type and of the pointer to it.
	Methods []string
	// Constants are the values of the package's string constants of this type, sorted.
	Constants []Constant

	Elem, Key *Type
	Len       int64
	Fields    []*Field
}

// Constant is a declared constant of a string type.
type Constant struct {
	Name, Value string
}

// Omit is the condition under which JSON leaves a field out.
type Omit int

// The rules of leaving out.
const (
	// Always emits the field, whatever it holds.
	Always Omit = iota
	// OmitEmpty is the rule of omitempty: false, 0, nil and what has no elements, but never a struct.
	OmitEmpty
	// OmitZero is the rule of omitzero: the zero value, or what the method IsZero says.
	OmitZero
)

// Field is a field of a struct.
type Field struct {
	Name string
	// JSON is the name in JSON; empty for an inlined field, "-" for one that JSON does not have.
	JSON     string
	Type     *Type
	Embedded bool
	Omit     Omit
	Markers  []Marker
}

// Inline reports whether JSON shows the fields of this field as if they were fields of the parent.
func (f *Field) Inline() bool {
	return f.JSON == ""
}

// Exported reports whether the field can be used from other packages.
func (f *Field) Exported() bool {
	return token.IsExported(f.Name)
}

// Field returns the struct's field of a name, or nil.
func (t *Type) Field(name string) *Field {
	return Find(t.Fields, func(f *Field) bool { return f.Name == name })
}

// FieldInJSON returns the field that JSON shows under a name in a struct, which may be a field of one that is inlined, or nil.
func (t *Type) FieldInJSON(name string) *Field {
	if field := Find(t.Base().Fields, func(f *Field) bool { return f.JSON == name }); field != nil {
		return field
	}
	for _, field := range t.Base().Fields {
		if field.Inline() {
			if found := field.Type.FieldInJSON(name); found != nil {
				return found
			}
		}
	}
	return nil
}

// Find returns the first element that is the one, or nil.
func Find[E any](all []*E, is func(each *E) bool) *E {
	if at := slices.IndexFunc(all, is); at >= 0 {
		return all[at]
	}
	return nil
}

// Each returns the results of a function for all elements of a list, in their order.
func Each[E, R any](all []E, of func(each E) R) []R {
	results := make([]R, len(all))
	for i, each := range all {
		results[i] = of(each)
	}
	return results
}

// Declared returns the type as a package declares it.
func (t *Type) Declared() *Type {
	if t.Origin != nil {
		return t.Origin
	}
	return t
}

// Has reports whether a Named type, or the pointer to it, has a method.
func (t *Type) Has(method string) bool {
	return slices.Contains(t.Methods, method)
}

// Base returns a type without its name: the underlying type of a Named one, and any other type itself.
func (t *Type) Base() *Type {
	if t.Kind == Named {
		return t.Underlying
	}
	return t
}

// Pointed returns the type that a pointer points to, and any other type itself.
func (t *Type) Pointed() *Type {
	if t.Kind == Pointer {
		return t.Elem
	}
	return t
}

// Nilable reports whether a value of the type can be nil.
func (t *Type) Nilable() bool {
	kind := t.Base().Kind
	return kind == Pointer || kind == Slice || kind == Map
}

// Innermost returns the type that pointers, lists and maps lead to.
func (t *Type) Innermost() *Type {
	for t.Elem != nil {
		t = t.Elem
	}
	return t
}

// schemaEnum is the marker of a schema for the values of an enum.
const schemaEnum = "kubebuilder:validation:Enum"

// Values returns the values of an enum, sorted: those that its schema lists, or else the constants of the type.
func (t *Type) Values() []string { return t.values(t.Markers) }

// Values returns those of what the field holds. The schema may list them at the field.
func (f *Field) Values() []string {
	t := f.Type.Innermost()
	return t.values(slices.Concat(f.Markers, t.Markers))
}

func (t *Type) values(markers []Marker) []string {
	if base := t.Base(); base.Kind != Basic || base.Name != "string" {
		return nil
	}
	if at := slices.IndexFunc(markers, func(m Marker) bool { return m.Name == schemaEnum }); at >= 0 {
		values := strings.FieldsFunc(markers[at].Value, func(r rune) bool { return strings.ContainsRune("{};,\"`", r) })
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		values = slices.DeleteFunc(values, func(value string) bool { return value == "" })
		slices.Sort(values)
		return slices.Compact(values)
	}
	var values []string
	for _, each := range t.Constants {
		values = append(values, each.Value)
	}
	return slices.Compact(values)
}

// String returns the type as Go spells it outside of its package, for messages.
func (t *Type) String() string {
	return t.Spelled(func(named *Type) string { return named.Declared().PackageName + "." + named.Declared().Name })
}

// Spelled returns the type as Go spells it, with the function's names of Named types.
func (t *Type) Spelled(name func(named *Type) string) string {
	switch t.Kind {
	case Named:
		return name(t)
	case Pointer:
		return "*" + t.Elem.Spelled(name)
	case Slice:
		return "[]" + t.Elem.Spelled(name)
	case Array:
		return "[" + strconv.FormatInt(t.Len, 10) + "]" + t.Elem.Spelled(name)
	case Map:
		return "map[" + t.Key.Spelled(name) + "]" + t.Elem.Spelled(name)
	default:
		return t.Name
	}
}

// Same reports whether two types are one type, wherever they were read.
func (t *Type) Same(other *Type) bool {
	if t.Kind != other.Kind {
		return false
	}
	switch t.Kind {
	case Named:
		return t.Package == other.Package && t.Name == other.Name
	case Basic:
		return t.Name == other.Name
	case Pointer, Slice:
		return t.Elem.Same(other.Elem)
	case Array:
		return t.Len == other.Len && t.Elem.Same(other.Elem)
	case Map:
		return t.Key.Same(other.Key) && t.Elem.Same(other.Elem)
	default:
		return t == other
	}
}
