/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// label names a field in messages.
func (f *Field) label() string {
	return f.Struct.label() + "." + f.Name()
}

// supported reports a field that no conversion can carry.
func (p *planner) supported(f *Field) {
	unsupported := func(text, fix string) {
		f.unsupported = true
		p.problem(problem.UnsupportedType, f.label()+" ("+f.API.Type.String()+")", text, fix)
	}
	pkg := f.Struct.Version.Package.Path
	reason, held := unsupportedPart(f.API.Type, pkg, make(map[*model.Type]bool)), f.API.Type.Innermost()
	switch {
	case !f.API.Exported():
		unsupported("the field is not exported, so JSON does not have it and no other package can convert it",
			"export it, or move it out of the API type")
	case f.API.Inline() && StorageType(f.API.Type, pkg).Kind == model.Pointer:
		unsupported("the fields of a pointer are inlined, so that nothing and an empty struct look the same", "embed the struct itself, or name it in JSON")
	case reason != "" && held.Kind == model.Unsupported && instance.MatchString(held.Name):
		unsupported(reason, "declare a type of it, such as type NAME "+strings.ReplaceAll(held.Name, f.Struct.Version.Package.Name+".", ""))
	case reason != "":
		unsupported(reason, "use types that JSON and DeepCopy know: builtin ones, structs, pointers, lists, and maps with strings as keys")
	}
}

// instance finds an instance of a generic type.
var instance = regexp.MustCompile(`^[\w.]+\[`)

// unsupportedPart names the part of a type that cannot be kept, if any.
func unsupportedPart(t *model.Type, pkg string, seen map[*model.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch t.Kind {
	case model.Unsupported:
		return unsupportedKind(t)
	case model.Map:
		if key := t.Key.Base(); key.Kind != model.Basic || key.Name != "string" {
			return "a map's keys are " + t.Key.String() + ", and JSON has only strings"
		}
		return unsupportedPart(t.Elem, pkg, seen)
	case model.Pointer, model.Slice, model.Array:
		return unsupportedPart(t.Elem, pkg, seen)
	case model.Named:
		switch isOwn := isOwn(t, pkg); {
		case isOwn && t.Underlying.Kind != model.Struct: // each field of a struct is looked at by itself
			return unsupportedPart(t.Underlying, pkg, seen)
		case !isOwn && !t.Has("DeepCopyInto") && !plain(t) && !IsForeignList(t):
			return t.String() + " belongs to another package and has no DeepCopyInto"
		}
	case model.Struct:
		return "a struct has no name"
	case model.Basic:
	}
	return ""
}

func unsupportedKind(t *model.Type) string {
	switch {
	case t.Name == types.Typ[types.Invalid].Name():
		return "Go does not know the type: nothing declares it, or the package that does cannot be loaded"
	case t.Name == "any" || strings.HasPrefix(t.Name, "interface"):
		return "what an interface holds is unknown"
	case strings.HasPrefix(t.Name, "struct"):
		return "a struct has no name, so it has no storage type"
	case instance.MatchString(t.Name):
		return t.Name + " is an instance of a generic type, and has no name"
	default:
		return t.Name + " cannot be written as JSON"
	}
}

// plain reports whether values of a type can be assigned without sharing memory.
func plain(t *model.Type) bool {
	base := t.Base()
	switch base.Kind {
	case model.Basic:
		return true
	case model.Array:
		return plain(base.Elem)
	case model.Struct:
		return !slices.ContainsFunc(base.Fields, func(f *model.Field) bool { return !plain(f.Type) })
	default:
		return false
	}
}
