/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// absence is the way in which an API field represents that it is absent.
type absence int

const (
	// byNil is a pointer, or a list that is null.
	byNil absence = iota
	// byZero is a value that JSON leaves out when it is zero, a list that it leaves out when empty, or a struct.
	byZero
	// alwaysThere is a value that JSON always shows.
	alwaysThere
)

// IsPointer reports whether the field of the API is a pointer, which the storage type need not have.
func (f *Field) IsPointer() bool { return f.API.Type.Base().Kind == model.Pointer }

func (f *Field) absence() absence {
	if f.IsPointer() {
		return byNil
	}
	t := StorageType(f.API.Type, f.Struct.Version.Package.Path).Base()
	switch t.Kind {
	case model.Pointer:
		return byNil
	case model.Slice, model.Map:
		if f.EmptyIsAbsent() {
			return byZero
		}
		return byNil // omitzero leaves out nil and shows what is empty
	case model.Struct, model.Array:
		if f.ShowsZero() || f.IsRequiredScalar() || f.WritesZero() {
			return alwaysThere
		}
		return byZero
	case model.Basic, model.Named, model.Unsupported:
	}
	if f.IsRequired() {
		return alwaysThere
	}
	return byZero
}

// IsRequired reports whether JSON always shows a value, and zero is one.
func (f *Field) IsRequired() bool {
	return f.API.Omit == model.Always && !f.Settings.ZeroIsAbsent && !f.neverAbsent
}

// EmptyIsAbsent reports whether an empty list or map stands for an absent one.
func (f *Field) EmptyIsAbsent() bool { return f.API.Omit == model.OmitEmpty || f.IsNeverNull() }

// IsNeverNull reports whether JSON always shows a list or map, and as an empty one where there are no elements.
func (f *Field) IsNeverNull() bool {
	return f.isOwnList() && f.API.Omit == model.Always && (f.Settings.ZeroIsAbsent || f.neverAbsent)
}

// isOwnList reports whether the field is a list or map that is copied element by element.
func (f *Field) isOwnList() bool {
	t := StorageType(f.API.Type, f.Struct.Version.Package.Path)
	return !f.IsPointer() && (t.Kind == model.Slice || t.Kind == model.Map)
}

// showsApart reports whether the version shows absent and zero, or absent and empty, apart.
func (f *Field) showsApart() bool {
	if !f.isOwnList() {
		return f.absence() == byNil
	}
	isNullable := func(marker model.Marker) bool { return marker.Name == "nullable" }
	return f.API.Omit == model.OmitZero || slices.ContainsFunc(f.API.Markers, isNullable) || slices.ContainsFunc(ownJSON, f.API.Type.Has)
}

// neverAbsent finds numbers, texts, bools, lists and maps that some versions always show and others leave out when they are zero or empty, and of
// which no version shows that and absent apart. Zero is absent for all of them, so that nothing has to be kept about it.
func neverAbsent(result *Plan) {
	related, isSpecial := relations(result)
	var found []*Field
	for field := range related {
		all := []*Field{field}
		for i := 0; i < len(all); i++ {
			for _, other := range related[all[i]] {
				if !slices.Contains(all, other) {
					all = append(all, other)
				}
			}
		}
		isKnown := slices.ContainsFunc(all, func(f *Field) bool { return isSpecial[f] || f.showsApart() })
		if !isKnown && slices.ContainsFunc(all, func(f *Field) bool { return f.absence() == byZero }) {
			found = append(found, all...)
		}
	}
	for _, field := range found {
		field.neverAbsent = true
	}
}

// relations returns the fields of the neighboring versions that a number, text, bool, list or map becomes, and the fields that are something else in one.
func relations(result *Plan) (related map[*Field][]*Field, isSpecial map[*Field]bool) {
	related, isSpecial = make(map[*Field][]*Field), make(map[*Field]bool)
	for _, link := range result.Links {
		for _, pair := range link.Pairs {
			for _, each := range pair.Fields {
				older, newer := each.Older, each.newerField()
				if older != nil && newer != nil && each.Fate == Converted && each.Conversion.keepsZero() {
					related[older], related[newer] = append(related[older], newer), append(related[newer], older)
				} else {
					isSpecial[older], isSpecial[newer] = true, true
				}
			}
		}
	}
	return related, isSpecial
}

// keepsZero reports whether the conversion is that of a number, text, bool, list or map, and zero stays zero.
func (c *Conversion) keepsZero() bool {
	if c.Rule == OfPointer {
		c = c.Elem
	}
	isScalar := (c.Rule == Copy || c.Rule == Cast || c.Rule == Widen) && c.Older.Base().Kind == model.Basic
	return isScalar || (c.Rule == OfSlice || c.Rule == OfMap) && c.Older.Elem != nil
}

// marked reports whether one version shows absence in a way that the destination cannot, so that a mark is kept.
func marked(each *FieldPlan, up bool) bool {
	newer := each.newerField()
	if newer == nil {
		return false
	}
	from, to := newer.absence(), each.Older.absence()
	if up {
		from, to = to, from
	}
	return to != byNil && from != to
}

// nullWhenZero are types that write null instead.
var nullWhenZero = []string{metaPackage + ".Time", metaPackage + ".MicroTime", "knative.dev/pkg/apis.VolatileTime"}

// ShowsZero reports whether JSON shows an absent struct in a way that does not read as nothing again. It is so for
// types of other modules that write their JSON themselves and have IsZero, such as the quantity "0", and for
// structs that hold one.
func (f *Field) ShowsZero() bool {
	return f.API.Omit != model.OmitZero && zeroIsShown(f.API.Type)
}

// scalars are types of other modules that JSON shows as a number or a text, also if they are zero.
var scalars = []string{metaPackage + ".Duration", "k8s.io/apimachinery/pkg/util/intstr.IntOrString"}

// IsRequiredScalar reports whether the field is a struct that JSON always shows as a number or a text, so that zero is a value and not
// nothing, as it is for a number, unless the marker zero says otherwise.
func (f *Field) IsRequiredScalar() bool {
	return f.IsRequired() && f.isScalar()
}

// WritesZero reports whether the field is required, and a struct that writes its JSON itself. Zero is a value then, or null and nothing, which is
// known at run time only.
func (f *Field) WritesZero() bool { return f.IsRequired() && f.writesJSON() && !f.isScalar() }

// writesJSON reports whether the field is a struct that writes its JSON itself, and whose zero value has no other meaning than its JSON.
func (f *Field) writesJSON() bool {
	t := f.API.Type
	return t.Base().Kind == model.Struct && slices.ContainsFunc(ownJSON, t.Has) && !t.Has("IsZero") && !slices.Contains(nullWhenZero, fullName(t))
}

// isScalar reports whether the field is a struct that JSON shows as a number or a text.
func (f *Field) isScalar() bool {
	return slices.Contains(scalars, fullName(f.API.Type))
}

func zeroIsShown(t *model.Type) bool {
	base := t.Base()
	switch {
	case base.Kind == model.Array:
		return zeroIsShown(base.Elem)
	case base.Kind != model.Struct || slices.Contains(nullWhenZero, fullName(t)):
		return false
	case t.Has("MarshalJSON"):
		return t.Has("IsZero")
	}
	return slices.ContainsFunc(base.Fields, func(field *model.Field) bool {
		return field.Omit != model.OmitZero && field.Exported() && field.JSON != "-" && zeroIsShown(field.Type)
	})
}

// OmittedIfZero reports whether some field holds the struct by value, so that JSON leaves out the field, or one around it, if all
// fields of the struct are zero.
func (s *Struct) OmittedIfZero() bool {
	for _, holder := range s.Version.Structs {
		for _, field := range holder.Fields {
			value := field.API.Type
			for value.Kind == model.Array {
				value = value.Elem
			}
			if value.Declared() == s.Declared.Declared() && (field.API.Omit == model.OmitZero || holder.OmittedIfZero()) {
				return true
			}
		}
	}
	return false
}
