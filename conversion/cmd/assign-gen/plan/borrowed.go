/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// A version may use types of another version, as v1beta1 does when nothing of a struct has changed since v1. Such a version borrows the
// type: it gets its own storage type, as if it declared the same type itself, and bags for what this version has no field for.

// borrow replaces the types of other versions that a package uses with its own types.
func borrow(pkg *model.Package, versions []*model.Package) {
	b := &borrower{pkg: pkg, versions: versions, borrowed: make(map[*model.Type]*model.Type)}
	for _, declared := range slices.Clone(pkg.Types) {
		b.inside(declared.Underlying)
	}
}

type borrower struct {
	pkg      *model.Package
	versions []*model.Package
	// borrowed are by the types as other versions declare them.
	borrowed map[*model.Type]*model.Type
}

// inside replaces what a type that belongs to the package holds.
func (b *borrower) inside(t *model.Type) {
	for _, field := range t.Fields {
		field.Type = b.replaced(field.Type)
	}
	if t.Elem != nil {
		t.Elem = b.replaced(t.Elem)
	}
	if t.Key != nil {
		t.Key = b.replaced(t.Key)
	}
}

// replaced returns a type with those of other versions replaced.
func (b *borrower) replaced(t *model.Type) *model.Type {
	switch t.Kind {
	case model.Named:
		if t.Package != b.pkg.Path && slices.ContainsFunc(b.versions, func(p *model.Package) bool { return p.Path == t.Package }) {
			return b.borrow(t)
		}
		return t
	case model.Pointer, model.Slice, model.Array, model.Map:
		result := *t
		b.inside(&result)
		return &result
	default:
		return t
	}
}

// borrow makes a type of the package from one of another version.
func (b *borrower) borrow(t *model.Type) *model.Type {
	t = t.Declared()
	if known := b.borrowed[t]; known != nil {
		return known
	}
	result := *t
	result.Package, result.PackageName, result.Origin = b.pkg.Path, b.pkg.Name, t
	for b.pkg.Type(result.Name) != nil {
		result.Name = strings.ToUpper(t.PackageName[:1]) + t.PackageName[1:] + result.Name
	}
	b.borrowed[t] = &result
	b.pkg.Types = append(b.pkg.Types, &result)

	underlying := *t.Underlying
	underlying.Fields = nil
	for _, field := range t.Underlying.Fields {
		own := *field
		underlying.Fields = append(underlying.Fields, &own)
	}
	result.Underlying = &underlying
	b.inside(&underlying)
	return &result
}

// borrowed returns the struct of a version that is the same declared type as one that another version borrows, or nil.
func (v *Version) borrowed(as *Struct) *Struct {
	return model.Find(v.Structs, func(s *Struct) bool { return s.Declared.Declared() == as.Declared.Declared() })
}

// label names a struct in messages: with the version that declares it.
func (s *Struct) label() string {
	return path.Base(s.Declared.Declared().Package) + "." + s.Declared.Declared().Name
}

// borrowedSettings are the markers that hold wherever a field is used. Those about the next version are about that of the version which
// declares the field.
func borrowedSettings(settings markers.Field) markers.Field {
	return markers.Field{
		ToOlder: settings.ToOlder, ZeroIsAbsent: settings.ZeroIsAbsent, Sensitive: settings.Sensitive,
		Positional: settings.Positional, ListMapKeys: settings.ListMapKeys, KeyMarker: settings.KeyMarker,
	}
}
