/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// declared reads the markers of everything that a package declares, reachable or not.
func (p *planner) declared(version *Version) {
	all := make(map[*model.Type]*Struct)
	p.structs[version] = all
	showHidden(version.Package)
	parts := partsOf(version.Package)
	for _, declared := range version.Package.Types {
		result := &Struct{Version: version, Declared: declared, Name: declared.Name}
		settings := markers.ParseType(declared.Markers, result.label(), &p.problems)
		if declared.Origin == nil && settings.Enum != nil {
			p.typeEnums[declared] = settings.Enum
		}
		if declared.Underlying.Kind != model.Struct {
			continue
		}
		if declared.Origin == nil {
			result.Root, result.Settings = isRoot(declared) && !parts[declared], settings
		}
		p.fieldsOf(result)
		all[declared] = result
	}
}

// ownJSON are the methods by which a type writes its JSON itself.
var ownJSON = []string{"MarshalJSON", "MarshalJSONTo", "MarshalText"}

// showHidden gives the fields that JSON leaves out names in JSON, in types that write their JSON themselves and in what these hold: there
// such a field may hold all that there is.
func showHidden(pkg *model.Package) {
	for _, declared := range pkg.Types {
		if !slices.ContainsFunc(ownJSON, declared.Has) {
			continue
		}
		for each := range within(declared, pkg.Path) {
			for _, field := range each.Underlying.Fields {
				if field.Exported() && field.JSON == "-" {
					field.JSON = field.Name
				}
			}
		}
	}
}

// reach finds what can be reached from the kinds of a package that are converted.
func (p *planner) reach(version *Version, isConverted func(kind *Struct) bool) {
	all := p.structs[version]
	var visit func(at *Struct)
	visit = func(at *Struct) {
		if slices.Contains(version.Structs, at) {
			return
		}
		version.Structs = append(version.Structs, at)
		for _, field := range at.Fields {
			switch reached := all[innermost(field.API.Type, version.Package.Path)]; {
			case reached == nil:
			case reached.Settings.Skip:
				p.problem(problem.BadMarker, reached.label(),
					"the type is marked +conversion:skip and is used by "+at.Name+"."+field.Name(),
					"remove +conversion:skip, or the field")
			case reached.Root:
				p.problem(problem.UnsupportedType, field.label()+" ("+field.API.Type.String()+")",
					reached.label()+" is a kind, and the metadata of a kind is that of the whole object",
					"declare a struct with the same fields for the part; or, if the type is no kind, remove its markers for kinds")
			default:
				visit(reached)
			}
		}
	}
	for _, each := range all {
		if each.Root && isConverted(each) {
			visit(each)
		}
	}
	slices.SortFunc(version.Structs, func(a, b *Struct) int { return cmp.Compare(a.Name, b.Name) })
	for _, each := range version.Structs {
		for _, field := range each.Fields {
			p.supported(field)
			field.Storage = optional(StorageType(field.API.Type, version.Package.Path))
		}
	}
}

// fieldsOf describes the fields of a struct with their markers. A field that JSON does not have is never in an object that is converted.
func (p *planner) fieldsOf(result *Struct) {
	for _, each := range result.Declared.Underlying.Fields {
		if each.Exported() && each.JSON == "-" {
			continue
		}
		field := &Field{Struct: result, API: each}
		field.Settings = markers.ParseField(each.Markers, field.label(), &p.problems)
		if result.Declared.Origin != nil {
			field.Settings = borrowedSettings(field.Settings)
		}
		if !result.Root || (!isMeta(each, "TypeMeta") && !isMeta(each, "ObjectMeta")) {
			result.Fields = append(result.Fields, field)
		}
	}
}

// isRoot reports whether a type is a kind. A list of objects is not a root: the API server converts its items.
func isRoot(declared *model.Type) bool {
	hasType, hasObject := false, false
	for _, field := range declared.Underlying.Fields {
		hasType = hasType || isMeta(field, "TypeMeta")
		hasObject = hasObject || isMeta(field, "ObjectMeta")
	}
	return hasType && hasObject
}

// partsOf finds the types with type and object metadata that kinds hold, and that no marker of Kubernetes declares to be kinds.
func partsOf(pkg *model.Package) map[*model.Type]bool {
	parts := make(map[*model.Type]bool)
	for _, root := range pkg.Types {
		if root.Underlying.Kind != model.Struct || !isRoot(root) {
			continue
		}
		for each := range within(root, pkg.Path) {
			parts[each] = parts[each] || each != root && isRoot(each) && !slices.ContainsFunc(each.Markers, declaresKind)
		}
	}
	return parts
}

// declaresKind reports whether a marker is one of those that kinds have.
func declaresKind(marker model.Marker) bool {
	switch marker.Name {
	case "genclient", "kubebuilder:resource":
		return true
	case "kubebuilder:object:root":
		return marker.Value != "false"
	case "k8s:deepcopy-gen:interfaces":
		return strings.HasSuffix(marker.Value, "/runtime.Object")
	default:
		return false
	}
}

func isMeta(field *model.Field, name string) bool {
	return field.Embedded && field.Type.Kind == model.Named && field.Type.Package == metaPackage && field.Type.Name == name
}

// isOwn reports whether a type is declared by an API package, and has a storage type if it is a struct.
func isOwn(t *model.Type, pkg string) bool {
	return t.Kind == model.Named && t.Package == pkg
}

// innermost returns the element type of a type: through pointers, lists, maps and names of the same package.
func innermost(t *model.Type, pkg string) *model.Type {
	for {
		switch {
		case t.Elem != nil:
			t = t.Elem
		case isOwn(t, pkg) && t.Underlying.Kind != model.Struct:
			t = t.Underlying
		default:
			return t
		}
	}
}

// within yields the structs of a package that a type is or holds in JSON. Each is yielded before its fields are looked at.
func within(t *model.Type, pkg string) iter.Seq[*model.Type] {
	return func(yield func(each *model.Type) bool) {
		seen := make(map[*model.Type]bool)
		var visit func(t *model.Type) (more bool)
		visit = func(t *model.Type) bool {
			if t = innermost(t, pkg); !isOwn(t, pkg) || seen[t] {
				return true
			}
			seen[t] = true
			return yield(t) && !slices.ContainsFunc(t.Underlying.Fields, func(field *model.Field) bool {
				return !(field.Exported() && field.JSON == "-") && !visit(field.Type)
			})
		}
		visit(t)
	}
}

// StorageType is a type as the storage type has it: storage packages cannot import the API package, which imports them.
// So names of other than structs are taken away. Own structs keep their names and stand for the storage types of them. There are no pointers to lists
// and maps, either, which can be nil themselves.
func StorageType(t *model.Type, pkg string) *model.Type {
	switch t.Kind {
	case model.Named:
		if isOwn(t, pkg) && t.Underlying.Kind != model.Struct {
			return StorageType(t.Underlying, pkg)
		}
		return t
	case model.Pointer, model.Slice, model.Array, model.Map:
		result := *t
		result.Elem = StorageType(t.Elem, pkg)
		if t.Key != nil {
			result.Key = StorageType(t.Key, pkg)
		}
		if t.Kind == model.Pointer && isList(result.Elem) {
			return result.Elem
		}
		return &result
	default:
		return t
	}
}

func isList(t *model.Type) bool {
	return t.Kind == model.Slice || t.Kind == model.Map || IsForeignList(t)
}

// IsForeignList reports whether a type of another module is a list or map without pointers in it and has no DeepCopyInto, such as
// json.RawMessage. Its values are copied as those of lists without a name.
func IsForeignList(t *model.Type) bool {
	if t.Kind != model.Named || t.Has("DeepCopyInto") {
		return false
	}
	base := t.Base()
	return (base.Kind == model.Slice || base.Kind == model.Map) && plain(base.Elem)
}

// optional makes a type one that can be nil.
func optional(t *model.Type) *model.Type {
	if t.Nilable() {
		return t
	}
	return &model.Type{Kind: model.Pointer, Elem: t}
}

// Nested are the types, of the version or of other modules, that values of its fields can nest without bound, sorted.
func (v *Version) Nested() []string {
	var names []string
	above, done := make(map[*model.Type]bool), make(map[*model.Type]bool)
	var visit func(t *model.Type)
	visit = func(t *model.Type) {
		switch t = innermost(t, v.Package.Path); {
		case above[t]:
			names = append(names, t.String())
		case t.Kind == model.Named && !done[t]:
			above[t], done[t] = true, true
			for _, field := range t.Base().Fields {
				visit(field.Type)
			}
			delete(above, t)
		}
	}
	for _, each := range v.Structs {
		visit(each.Declared)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Kinds are the names of the kinds that hold the struct, sorted.
func (s *Struct) Kinds() []string {
	var kinds []string
	for _, root := range s.Version.Structs {
		if root.Root && slices.Contains(slices.Collect(within(root.Declared, s.Version.Package.Path)), s.Declared) {
			kinds = append(kinds, root.Name)
		}
	}
	return kinds
}
