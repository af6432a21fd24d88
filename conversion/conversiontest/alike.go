/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion"
)

// same is the part of two types that JSON shows alike.
type same struct {
	// fields are those of structs, elem is the element of lists and maps; neither is set for what is compared as a whole.
	fields map[string]*same
	elem   *same
	// zero is the JSON at a and at b of structs in which everything is zero.
	zero [2]any
	// inlined are the structs that declare fields at a and are inlined.
	inlined map[string]reflect.Type
	// known are the values of enums.
	known [2][]string
}

// alike finds what two versions show alike, and the fields that they do not.
func (k Kind) alike(a, b Version) (*same, map[string]apart) {
	f := &finder{
		kind: k, versions: [2]string{a.Name, b.Name}, found: make(map[[2]reflect.Type]*same), apart: make(map[string]apart),
		decided: [2][]string{k.Decided[a.Name], k.Decided["→ "+b.Name]},
	}
	older := slices.IndexFunc(k.Versions, func(v Version) bool { return v.Name == a.Name || v.Name == b.Name })
	if k.Versions[older].Name == b.Name {
		f.older, f.decided = after, [2][]string{k.Decided["→ "+a.Name], k.Decided[b.Name]}
	}
	from, to := reflect.TypeOf(a.New()).Elem(), reflect.TypeOf(b.New()).Elem()
	f.packages = [2]string{from.PkgPath(), to.PkgPath()}
	// A hook of the kind may be about all of its fields.
	root := cmp.Or(f.find(from, to, storageOf(from), storageOf(to)), &same{fields: make(map[string]*same)})
	delete(root.fields, "apiVersion")
	delete(root.fields, "kind")
	return root, f.apart
}

// storageOf returns the storage type of a kind, which may have a hook.
func storageOf(kind reflect.Type) reflect.Type {
	method, ok := reflect.PointerTo(kind).MethodByName("AssignProperties_To_" + kind.Name())
	if !ok {
		return nil
	}
	return method.Type.In(1).Elem()
}

// The sides of a conversion. For whether, zero may be nothing before.
const (
	before = iota
	after
	whether
)

type finder struct {
	kind     Kind
	versions [2]string
	// older is the side of the older version, whose storage types have the hooks.
	older    int
	packages [2]string
	// decided are the fields and types of each version that markers decide about.
	decided [2][]string
	found   map[[2]reflect.Type]*same
	// apart are the fields that the versions do not show alike, by how messages name them.
	apart map[string]apart
}

// find returns the part that two types have in common, or nil.
func (f *finder) find(a, b, storageA, storageB reflect.Type) *same {
	a, b, storageA, storageB = pointedTo(a), pointedTo(b), pointedTo(storageA), pointedTo(storageB)
	switch known, ok := f.found[[2]reflect.Type{a, b}]; {
	case ok:
		return known
	case a.Kind() != b.Kind() && !widens(a, b) || f.isDecided(before, a, "") || f.isDecided(after, b, ""):
		return nil
	case isLeaf(a) || isLeaf(b):
		if !isAlike(a, b, nil) && !widens(a, b) {
			return nil
		}
		return &same{known: [2][]string{f.values(before, a, ""), f.values(after, b, "")}}
	case a.Kind() != reflect.Struct:
		if a.Kind() == reflect.Array && a.Len() != b.Len() {
			return nil
		}
		elem := f.find(a.Elem(), b.Elem(), elemOf(storageA), elemOf(storageB))
		if elem == nil {
			return nil
		}
		return &same{elem: elem}
	}
	result := &same{fields: make(map[string]*same), inlined: make(map[string]reflect.Type), zero: [2]any{zeroOf(a), zeroOf(b)}}
	f.found[[2]reflect.Type{a, b}] = result
	mine, theirs := fieldsInJSON(a), fieldsInJSON(b)
	// A hook may be about each of the fields.
	isHooks := hasHook([]reflect.Type{storageA, storageB}[f.older]) && !f.decidesFields(before, mine) && !f.decidesFields(after, theirs)
	for name, field := range mine {
		if field.in != a {
			result.inlined[name] = field.in
		}
		other, ok := theirs[name]
		if !ok || isHooks || f.isDecided(before, field.in, field.Name) || f.isDecided(after, other.in, other.Name) {
			continue
		}
		if inner := f.find(field.Type, other.Type, fieldOf(storageA, field), fieldOf(storageB, other)); inner != nil {
			result.fields[name] = f.ofField(inner, field, other)
		}
	}
	for _, fields := range []map[string]inJSON{mine, theirs} {
		for name, field := range fields {
			both := [2]inJSON{mine[name], theirs[name]}
			// Some field moves into one of this name, and it is not known whether it is this one.
			mayBeMoved := slices.Contains(f.decided[after-f.older], "*."+both[after-f.older].Name)
			if result.fields[name] == nil && !mayBeMoved && slices.Contains(f.packages[:], field.in.PkgPath()) {
				f.apart[name+" of "+field.in.Name()] = apart{name, both}
			}
		}
	}
	return result
}

// ofField returns the common part of two fields. Their schemas may list other values than those of their types. Zero stands for nothing in a struct
// with its own JSON, which omitempty does not leave out; a type with IsZero has a meaning for it.
func (f *finder) ofField(s *same, a, b inJSON) *same {
	if s.fields != nil {
		return s
	}
	leaf := *s
	if s.elem != nil {
		leaf.elem = f.ofField(s.elem, a, b)
		return &leaf
	}
	for side, field := range []inJSON{a, b} {
		if values := f.values(side, field.in, "."+field.Name); values != nil {
			leaf.known[side] = values
		}
		_, hasMeaning := field.Type.MethodByName("IsZero")
		if field.Type.Kind() == reflect.Struct && !hasMeaning && strings.Contains(field.Tag.Get("json"), ",omit") {
			leaf.zero[side] = zeroOf(field.Type)
		}
	}
	return &leaf
}

func (f *finder) isDecided(side int, t reflect.Type, field string) bool {
	name := t.Name()
	if field != "" {
		name += "." + field
	}
	decided := f.decided[side]
	return slices.Contains(decided, name) || slices.Contains(decided, t.PkgPath()+"."+name) || field != "" && slices.Contains(decided, "*."+field)
}

func (f *finder) decidesFields(side int, fields map[string]inJSON) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(fields)), func(each inJSON) bool { return f.isDecided(side, each.in, each.Name) })
}

// values are those of an enum that a version declares, at a type or its field.
func (f *finder) values(side int, t reflect.Type, field string) []string {
	if t.PkgPath() != f.packages[side] {
		return nil
	}
	return f.kind.Values[f.versions[side]][t.Name()+field]
}

// inJSON is a field that JSON shows in a struct, and the struct that declares it.
type inJSON struct {
	reflect.StructField

	in reflect.Type
}

// fieldsInJSON are the fields of a struct by their names in JSON, with those of structs that are inlined.
func fieldsInJSON(t reflect.Type) map[string]inJSON {
	fields := make(map[string]inJSON)
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch inlined := pointedTo(field.Type); {
		case name == "" && field.Anonymous && inlined.Kind() == reflect.Struct:
			for inner, each := range fieldsInJSON(inlined) {
				if _, known := fields[inner]; !known {
					fields[inner] = each
				}
			}
		case field.IsExported() && field.Tag.Get("json") != "-":
			if name == "" {
				name = field.Name
			}
			fields[name] = inJSON{field, t}
		}
	}
	return fields
}

// isAlike reports whether two types with JSON that is not looked into are the same: one type, or one that both versions declare alike.
func isAlike(a, b reflect.Type, above []reflect.Type) bool {
	if a == b || slices.Contains(above, a) {
		return true
	}
	if a.Kind() != b.Kind() || hasOwnJSON(a) != hasOwnJSON(b) || hasOwnJSON(a) && a.Name() != b.Name() {
		return false
	}
	above = append(slices.Clip(above), a)
	switch {
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if a.NumField() != b.NumField() || a.Field(i).Name != b.Field(i).Name || !isAlike(a.Field(i).Type, b.Field(i).Type, above) {
				return false
			}
		}
		return true
	case a.Kind() == reflect.Map:
		return isAlike(a.Key(), b.Key(), above) && isAlike(a.Elem(), b.Elem(), above)
	case isContainer(a.Kind()):
		return isAlike(a.Elem(), b.Elem(), above)
	default:
		return true
	}
}

// widens reports whether b has each number of a: JSON has one type for all sizes.
func widens(a, b reflect.Type) bool {
	isNumber := !hasOwnJSON(a) && !hasOwnJSON(b)
	return isNumber && a.Size() <= b.Size() && (reflect.Zero(a).CanInt() && reflect.Zero(b).CanInt() || reflect.Zero(a).CanUint() && reflect.Zero(b).CanUint())
}

func hasHook(storage reflect.Type) bool {
	if storage == nil {
		return false
	}
	for method := range reflect.PointerTo(storage).Methods() {
		if meantAsHook(method.Name) {
			return true
		}
	}
	return false
}

func pointedTo(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// heldBy follows pointers, lists and maps of a type to what they hold.
func heldBy(t reflect.Type) reflect.Type {
	for isContainer(t.Kind()) {
		t = t.Elem()
	}
	return t
}

// elemOf and fieldOf follow a storage type as long as it has the shape of the API type.
func elemOf(storage reflect.Type) reflect.Type {
	if storage == nil || !isContainer(storage.Kind()) {
		return nil
	}
	return storage.Elem()
}

func fieldOf(storage reflect.Type, field inJSON) reflect.Type {
	if storage == nil || storage.Kind() != reflect.Struct {
		return nil
	}
	found, ok := storage.FieldByName(field.Name)
	if !ok {
		return nil
	}
	return found.Type
}

// zeroOf is the JSON of a type's zero value, or nil if it has none.
func zeroOf(t reflect.Type) any {
	text, err := conversion.Canonical(reflect.New(t).Interface())
	if err != nil {
		return nil
	}
	return decoded(string(text))
}
