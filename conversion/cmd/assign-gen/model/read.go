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
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"k8s.io/gengo/v2/types"
)

// Read describes packages that gengo has loaded, in the order of the paths. An error means that a package could not be
// read at all; what is wrong inside of one is left for others to find.
func Read(universe types.Universe, paths []string) ([]*Package, error) {
	r := &reader{universe: universe, named: make(map[string]*Type)}
	packages := make([]*Package, 0, len(paths))
	for _, path := range paths {
		read, err := r.read(path)
		if err != nil {
			return nil, fmt.Errorf("reading package %s: %w", path, err)
		}
		packages = append(packages, read)
	}
	return packages, nil
}

type reader struct {
	universe types.Universe
	// named holds each declared type once, so that types which refer to each other end.
	named map[string]*Type
}

func (r *reader) read(path string) (*Package, error) {
	loaded := r.universe[path]
	if loaded == nil || loaded.Name == "" {
		return nil, fmt.Errorf("%s is not among the packages that were loaded", path)
	}
	result := &Package{Path: path, Name: loaded.Name, Dir: loaded.Dir, Markers: markersIn(loaded.Comments)}
	if checked := checkedPackage(loaded); checked != nil {
		for _, name := range checked.Scope().Names() { // sorted
			declared, ok := checked.Scope().Lookup(name).(*gotypes.TypeName)
			if !ok || declared.IsAlias() {
				continue
			}
			if named, ok := declared.Type().(*gotypes.Named); ok && named.TypeParams().Len() == 0 {
				result.Types = append(result.Types, r.namedType(named))
			}
		}
	}
	found, err := readSources(loaded.Dir)
	if err != nil {
		return nil, err
	}
	result.Stray, result.Positions = found.stray, found.positions
	return result, nil
}

// checkedPackage finds what go/types knows of a package. gengo keeps it to itself, and knows of most structs only what is
// under their names; but their fields know where they come from.
func checkedPackage(loaded *types.Package) *gotypes.Package {
	for _, name := range slices.Sorted(maps.Keys(loaded.Types)) {
		switch t := loaded.Types[name].GoType.(type) {
		case *gotypes.Named:
			if pkg := t.Obj().Pkg(); pkg != nil && pkg.Path() == loaded.Path {
				return pkg
			}
		case *gotypes.Struct:
			for field := range t.Fields() {
				if pkg := field.Pkg(); pkg != nil && pkg.Path() == loaded.Path {
					return pkg
				}
			}
		}
	}
	return nil
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

	var comments *types.Type
	if declaring := r.universe[path]; declaring != nil {
		comments = declaring.Types[name]
	}
	if comments != nil {
		result.Markers = markersIn(comments.CommentLines)
	}
	methods := gotypes.NewMethodSet(gotypes.NewPointer(t))
	for method := range methods.Methods() {
		result.Methods = append(result.Methods, method.Obj().Name())
	}
	switch underlying := t.Underlying().(type) {
	case *gotypes.Struct:
		result.Underlying = &Type{Kind: Struct, Name: "struct", Fields: r.fields(underlying, comments)}
	default:
		result.Underlying = r.typeOf(underlying)
	}
	result.Constants = r.constants(t)
	if !result.Has(deepCopyInto) && r.willBeCopied(t) {
		result.Methods = append(result.Methods, deepCopyInto)
	}
	return result
}

const deepCopyInto = "DeepCopyInto"

// willBeCopied reports whether deepcopy-gen is going to give a type the method: conversions may be generated first.
func (r *reader) willBeCopied(t *gotypes.Named) bool {
	switch t.Underlying().(type) {
	case *gotypes.Struct, *gotypes.Slice, *gotypes.Map:
	default:
		return false
	}
	declaring := r.universe[t.Obj().Pkg().Path()]
	if declaring == nil {
		return false
	}
	doc, err := os.ReadFile(filepath.Join(declaring.Dir, "doc.go"))
	return err == nil && slices.Contains(markersIn(comments(string(doc))), Marker{Name: "k8s:deepcopy-gen", Value: "package"})
}

// comments returns the lines of a file that are comments, without their slashes.
func comments(source string) []string {
	var lines []string
	for line := range strings.Lines(source) {
		if text, ok := strings.CutPrefix(line, "//"); ok {
			lines = append(lines, text)
		}
	}
	return lines
}

func (r *reader) fields(t *gotypes.Struct, comments *types.Type) []*Field {
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
		if comments != nil && i < len(comments.Members) && comments.Members[i].Name == field.Name {
			field.Markers = markersIn(comments.Members[i].CommentLines)
		}
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
	if t.Kind == Pointer {
		t = t.Elem
	}
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

// markersIn returns the comment lines that begin with a plus sign and a letter, in their order.
func markersIn(lines []string) []Marker {
	var markers []Marker
	for _, line := range lines {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "+")
		if !ok || text == "" || text[0] < 'A' {
			continue
		}
		name, value, _ := strings.Cut(text, "=")
		markers = append(markers, Marker{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	return markers
}
