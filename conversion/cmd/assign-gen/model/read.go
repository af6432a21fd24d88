/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package model

import (
	"cmp"
	"fmt"
	"go/constant"
	gotypes "go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Read describes packages that are loaded with all that they import, in the order of the paths. It leaves faults inside of one for
// others to find.
func Read(loaded map[string]*packages.Package, paths []string) ([]*Package, error) {
	r := &reader{loaded: loaded, named: make(map[string]*Type), sources: make(map[string]*sources)}
	read := make([]*Package, 0, len(paths))
	for _, path := range paths {
		pkg := loaded[path]
		if pkg == nil || pkg.Types == nil || len(pkg.GoFiles) == 0 {
			return nil, fmt.Errorf("package %s has no Go files", path)
		}
		read = append(read, r.read(pkg))
	}
	return read, nil
}

type reader struct {
	// loaded are the packages by their import paths, and sources what is known of their files.
	loaded  map[string]*packages.Package
	sources map[string]*sources
	// named holds each declared type once, so that types which refer to each other end.
	named map[string]*Type
}

func (r *reader) read(pkg *packages.Package) *Package {
	found := r.sourcesOf(pkg.PkgPath)
	result := &Package{
		Path: pkg.PkgPath, Name: pkg.Name, Dir: filepath.Dir(pkg.GoFiles[0]), Markers: found.markers[""], Stray: found.stray, Positions: found.positions,
	}
	for _, name := range pkg.Types.Scope().Names() { // sorted
		declared, ok := pkg.Types.Scope().Lookup(name).(*gotypes.TypeName)
		if !ok || declared.IsAlias() {
			continue
		}
		if named, ok := declared.Type().(*gotypes.Named); ok && named.TypeParams().Len() == 0 {
			result.Types = append(result.Types, r.namedType(named))
		}
	}
	return result
}

// sourcesOf reads the files of a package once.
func (r *reader) sourcesOf(path string) *sources {
	if r.sources[path] == nil {
		r.sources[path] = newSources()
		if pkg := r.loaded[path]; pkg != nil {
			for _, file := range pkg.Syntax {
				r.sources[path].read(pkg.Fset, file, Relative(pkg.Fset.Position(file.FileStart).Filename))
			}
		}
	}
	return r.sources[path]
}

func (r *reader) typeOf(in gotypes.Type) *Type {
	switch t := gotypes.Unalias(in).(type) {
	case *gotypes.Basic:
		if t.Info()&(gotypes.IsBoolean|gotypes.IsInteger|gotypes.IsFloat|gotypes.IsString) == 0 || t.Kind() == gotypes.Uintptr {
			return &Type{Kind: Unsupported, Name: t.Name()}
		}
		return &Type{Kind: Basic, Name: gotypes.Typ[t.Kind()].Name()} // byte and rune are other names
	case *gotypes.Pointer:
		return &Type{Kind: Pointer, Elem: r.typeOf(t.Elem())}
	case *gotypes.Slice:
		return &Type{Kind: Slice, Elem: r.typeOf(t.Elem())}
	case *gotypes.Array:
		return &Type{Kind: Array, Elem: r.typeOf(t.Elem()), Len: t.Len()}
	case *gotypes.Map:
		return &Type{Kind: Map, Key: r.typeOf(t.Key()), Elem: r.typeOf(t.Elem())}
	case *gotypes.Named:
		if t.Obj().Pkg() == nil || t.TypeParams().Len() > 0 || t.TypeArgs().Len() > 0 {
			return &Type{Kind: Unsupported, Name: gotypes.TypeString(t, byName)}
		}
		return r.namedType(t)
	default:
		return &Type{Kind: Unsupported, Name: gotypes.TypeString(in, byName)}
	}
}

func byName(p *gotypes.Package) string { return p.Name() }

func (r *reader) namedType(t *gotypes.Named) *Type {
	path, name := t.Obj().Pkg().Path(), t.Obj().Name()
	if known := r.named[path+"."+name]; known != nil {
		return known
	}
	result := &Type{Kind: Named, Name: name, Package: path, PackageName: t.Obj().Pkg().Name()}
	r.named[path+"."+name] = result

	markers := r.sourcesOf(path).markers
	result.Markers = markers[name]
	methods := gotypes.NewMethodSet(gotypes.NewPointer(t))
	for method := range methods.Methods() {
		result.Methods = append(result.Methods, method.Obj().Name())
	}
	switch underlying := t.Underlying().(type) {
	case *gotypes.Struct:
		result.Underlying = &Type{Kind: Struct, Name: "struct", Fields: r.fields(underlying)}
	default:
		result.Underlying = r.typeOf(underlying)
	}
	result.Constants = r.constants(t)
	if !result.Has(deepCopyInto) && willBeCopied(result, markers[""]) {
		result.Methods = append(result.Methods, deepCopyInto)
	}
	return result
}

const deepCopyInto = "DeepCopyInto"

// willBeCopied reports whether deepcopy-gen is going to give a type the method: conversions may be generated first.
func willBeCopied(t *Type, ofPackage []Marker) bool {
	const deepCopyGen = "k8s:deepcopy-gen"
	switch t.Underlying.Kind {
	case Struct, Slice, Map:
		return slices.Contains(ofPackage, Marker{Name: deepCopyGen, Value: "package"}) &&
			!slices.Contains(t.Markers, Marker{Name: deepCopyGen, Value: "false"})
	default:
		return false
	}
}

func (r *reader) fields(t *gotypes.Struct) []*Field {
	var fields []*Field
	for i := range t.NumFields() {
		variable := t.Field(i)
		field := &Field{Name: variable.Name(), Type: r.typeOf(variable.Type()), Embedded: variable.Embedded()}
		field.JSON, field.Omit = jsonName(field, reflect.StructTag(t.Tag(i)))
		if field.Omit == omitBoth {
			field.Omit = OmitZero
			switch variable.Type().Underlying().(type) {
			case *gotypes.Slice, *gotypes.Map:
				field.Omit = OmitEmpty // nil has no elements either
			}
		}
		field.Markers = r.sourcesOf(variable.Pkg().Path()).fieldMarkers[variable.Pos()]
		fields = append(fields, field)
	}
	return fields
}

// omitBoth is a field with both options, which JSON leaves out by either rule.
const omitBoth = OmitEmpty | OmitZero

// jsonName follows encoding/json. The option "inline" means nothing to it, and is customary where a field is embedded.
func jsonName(field *Field, tag reflect.StructTag) (string, Omit) {
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	omit := Always
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			omit |= OmitEmpty
		case "omitzero":
			omit |= OmitZero
		}
	}
	switch {
	case name == "-" && options == "":
		return "-", omit
	case name != "":
		return name, omit
	case field.Embedded && isStruct(field.Type):
		return "", omit
	default:
		return field.Name, omit
	}
}

func isStruct(t *Type) bool {
	t = t.Pointed()
	// A type that is still being read is one that refers to itself, which only structs do here.
	return t.Kind == Named && (t.Underlying == nil || t.Underlying.Kind == Struct)
}

func (r *reader) constants(t *gotypes.Named) []Constant {
	basic, ok := t.Underlying().(*gotypes.Basic)
	if !ok || basic.Info()&gotypes.IsString == 0 {
		return nil
	}
	var found []Constant
	scope := t.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*gotypes.Const); ok && gotypes.Identical(c.Type(), t) {
			found = append(found, Constant{Name: name, Value: constant.StringVal(c.Val())})
		}
	}
	slices.SortFunc(found, func(a, b Constant) int { return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name)) })
	return found
}
