/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/markers"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// Plan describes the conversions between the versions of an API.
type Plan struct {
	// Annotation is the key of the annotation that holds what a version cannot show.
	Annotation string
	// Interface is the interface that the conversion webhook calls.
	Interface Interface
	// Selected reports whether only some kinds are converted.
	Selected bool
	// Retired are the versions whose entries are pruned.
	Retired []string
	// Former are the annotations of former conversions.
	Former []string
	Hub    *Version
	// Versions are all versions, the ones farthest from the hub first and the hub last.
	Versions []*Version
	// Links lead from each version but the hub to the next, in the order of Versions.
	Links []*Link
}

// Version is one version of the API.
type Version struct {
	Package *model.Package
	// Name is the version as it stands in apiVersion.
	Name string
	// Next is the next newer version, nil for the hub.
	Next *Version
	// positional accepts that elements of lists are recognized by position and content.
	positional bool
	// Structs are all structs of the package that can be reached from its kinds, sorted by name.
	Structs []*Struct
}

// Struct returns the reachable struct of a name, or nil.
func (v *Version) Struct(name string) *Struct {
	return model.Find(v.Structs, func(s *Struct) bool { return s.Name == name })
}

// StoragePath is the import path of the version's storage types.
func (v *Version) StoragePath() string { return v.Package.Path + "/storage" }

// Struct is a struct of an API package, and the storage type that is made of it.
type Struct struct {
	Version *Version
	// Declared is the type in the API package.
	Declared *model.Type
	// Name is that of the storage type. It is the same unless the type is borrowed and the version has another of its name.
	Name string
	// Root reports whether this is a kind: it has type and object metadata.
	Root     bool
	Settings markers.Type
	// Fields are the fields in their order, without the metadata of a kind.
	Fields []*Field
}

// Field returns the field of a name, or nil.
func (s *Struct) Field(name string) *Field {
	return model.Find(s.Fields, func(f *Field) bool { return f.Name() == name })
}

// Field is a field of an API struct and of the storage type made of it.
type Field struct {
	Struct   *Struct
	API      *model.Field
	Settings markers.Field
	// Storage is the field's type in the storage type. It can always be nil.
	Storage *model.Type
	// neverAbsent reports whether no version shows a difference between zero and absent.
	neverAbsent bool
	// unsupported reports whether a problem of the field is known, so that no conversion is sought.
	unsupported bool
}

// Name is the field's name in Go, in both types.
func (f *Field) Name() string { return f.API.Name }

// Key names the field inside of a struct for the bag: its JSON name, or the name in Go where JSON has none.
func (f *Field) Key() string {
	if f.API.Inline() {
		return f.API.Name
	}
	return f.API.JSON
}

// Link leads from a version to the next.
type Link struct {
	Older, Newer *Version
	// Pairs are the structs that correspond to each other, sorted by the older one's name.
	Pairs []*Pair
}

// Pair is a struct and the one that it becomes in the next version.
type Pair struct {
	Older, Newer *Struct
	// Several reports whether the older struct becomes other structs of the next version, too, each in a separate pair.
	Several bool
	// Augmented reports whether the hook is mandatory.
	Augmented bool
	// Functions convert the struct as a whole, if it is not converted field by field. Then there are no Fields.
	Functions *markers.Functions
	// Metadata reports whether the conversion depends on the metadata of the object, here or in a struct inside.
	Metadata bool
	// Fields are sorted by the names of the newer fields, then of the older ones.
	Fields []*FieldPlan
	// Aliases are older fields that stand for others.
	Aliases []*Alias
	// Shared are the structs of both versions that fields of the older struct lead into.
	Shared []*Shared
}

// OlderKey and NewerKey are the keys in the bag of a struct that functions convert as a whole.
func (p *Pair) OlderKey() string { return p.Older.Version.Name + "/" + wholeKey }

// NewerKey is OlderKey for the newer struct.
func (p *Pair) NewerKey() string { return p.Newer.Version.Name + "/" + wholeKey }

// Suffix is the suffix of the names of the pair's hook, if the older struct has several.
func (p *Pair) Suffix() string {
	if p.Several {
		return p.Newer.Name
	}
	return ""
}

// TakesMetadata reports whether the functions of the pair have the metadata of the object as a parameter. Those of a kind have
// the object itself.
func (p *Pair) TakesMetadata() bool { return p.Metadata && !p.Older.Root }

// Fate is the treatment of a field between two versions.
type Fate string

// The fates.
const (
	// Converted is a field that both versions have.
	Converted Fate = "converted"
	// StashedOlder is a field that only the older version has, kept in the bag by the newer one.
	StashedOlder Fate = "stashed (older)"
	// StashedNewer is a field that only the newer version has, kept in the bag by the older one.
	StashedNewer Fate = "stashed (newer)"
	// AugmentedOlder and AugmentedNewer are left to the hook.
	AugmentedOlder Fate = "augmented (older)"
	AugmentedNewer Fate = "augmented (newer)"
	// DroppedOlder and DroppedNewer are lost, for a reason in a marker.
	DroppedOlder Fate = "dropped (older)"
	DroppedNewer Fate = "dropped (newer)"
)

// FieldPlan describes the conversion of one field, or its fate otherwise.
type FieldPlan struct {
	Fate Fate
	// Older is the field of the older version, unless only the newer one has it. From leads to it.
	Older *Field
	From  Path
	// Newer leads to the field of the newer version, unless only the older one has it.
	Newer Path
	// Conversion is the conversion of a Converted field.
	Conversion *Conversion
	// OlderKey and NewerKey are the keys in the bag of the older and the newer field, if it is kept there or its hook may do so.
	OlderKey, NewerKey string
	// OlderStashed and NewerStashed report whether releases have stashed a field that is Converted now.
	OlderStashed, NewerStashed bool
	// Undeclared are values that only one version declares, and that pass unchanged because a marker allows it.
	Undeclared []string
	// Presence says that a stash of a struct is not of its fields, which are planned one by one, but of its bag, or of
	// the struct being there with nothing in it.
	Presence bool
	// Reason is the reason for which a field is dropped.
	Reason string
}

// Path leads from a struct to one of its fields, or into fields that are structs or pointers to structs.
type Path []Step

// Step is a field on a path.
type Step struct {
	Name string
	// Type is the field's type as the storage type has it; all but the last are pointers to structs.
	Type *model.Type
	// Field is the field, or nil where the struct is one of another module.
	Field *Field
	// key is the key of a field without Field in the bag.
	key string
}

// String is the path in Go.
func (p Path) String() string {
	return strings.Join(model.Each(p, func(s Step) string { return s.Name }), ".")
}

// Last is the field that the path leads to.
func (p Path) Last() Step { return p[len(p)-1] }

// Interface is the interface that the conversion webhook calls.
type Interface string

const (
	// Knative is apis.Convertible of knative.dev/pkg.
	Knative Interface = "knative"
	// ControllerRuntime is conversion.Hub and conversion.Convertible of controller-runtime.
	ControllerRuntime Interface = "controller-runtime"
)

func (i Interface) methods(isHub bool) []string {
	switch {
	case i != ControllerRuntime:
		return []string{"ConvertTo", "ConvertFrom"}
	case isHub:
		return []string{"ConversionAnnotation", "Hub"}
	default:
		return []string{"ConversionAnnotation", "ConvertTo", "ConvertFrom"}
	}
}
