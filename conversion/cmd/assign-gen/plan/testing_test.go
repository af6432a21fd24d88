/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// Descriptions of packages for tests: a kind Widget whose Spec holds the fields in question, in two versions.

const (
	olderPath = "example.com/apis/samples/v1beta1"
	newerPath = "example.com/apis/samples/v1"
)

// version describes a package. Its other types come after the fields of WidgetSpec.
type version struct {
	path    string
	markers []string
	fields  []*model.Field
	types   []*model.Type
}

func (v version) build() *model.Package {
	name := v.path[strings.LastIndex(v.path, "/")+1:]
	spec := v.own("WidgetSpec", v.fields...)
	kind := v.kind("Widget", spec)
	types := append([]*model.Type{kind, spec}, v.types...)
	slices.SortFunc(types, func(a, b *model.Type) int { return strings.Compare(a.Name, b.Name) })
	return &model.Package{Path: v.path, Name: name, Markers: parsed(v.markers...), Types: types}
}

// own describes a struct that the package declares.
func (v version) own(name string, fields ...*model.Field) *model.Type {
	return &model.Type{
		Kind: model.Named, Package: v.path, PackageName: v.path[strings.LastIndex(v.path, "/")+1:], Name: name, Underlying: structOf(fields...),
	}
}

func structOf(fields ...*model.Field) *model.Type {
	return &model.Type{Kind: model.Struct, Name: "struct", Fields: fields}
}

// field describes an exported field that JSON omits when it is empty, with markers.
func field(name string, t *model.Type, markers ...string) *model.Field {
	return &model.Field{Name: name, JSON: strings.ToLower(name[:1]) + name[1:], Type: t, Omit: model.OmitEmpty, Markers: parsed(markers...)}
}

func parsed(lines ...string) []model.Marker {
	var markers []model.Marker
	for _, line := range lines {
		name, value, _ := strings.Cut(strings.TrimPrefix(line, "+"), "=")
		markers = append(markers, model.Marker{Name: name, Value: value})
	}
	return markers
}

func basic(name string) *model.Type        { return &model.Type{Kind: model.Basic, Name: name} }
func pointer(elem *model.Type) *model.Type { return &model.Type{Kind: model.Pointer, Elem: elem} }
func slice(elem *model.Type) *model.Type   { return &model.Type{Kind: model.Slice, Elem: elem} }
func mapOf(key, elem *model.Type) *model.Type {
	return &model.Type{Kind: model.Map, Key: key, Elem: elem}
}

func array(n int64, elem *model.Type) *model.Type {
	return &model.Type{Kind: model.Array, Len: n, Elem: elem}
}

// foreign describes a type of another module that knows how to copy itself.
func foreign(name string, underlying *model.Type, methods ...string) *model.Type {
	if methods == nil {
		methods = []string{"DeepCopyInto", "MarshalJSON"}
	}
	return &model.Type{Kind: model.Named, Package: "example.com/duck", PackageName: "duck", Name: name, Underlying: underlying, Methods: methods}
}

// named describes a type of the package that is no struct.
func (v version) named(name string, underlying *model.Type, constants ...string) *model.Type {
	t := v.own(name)
	t.Underlying = underlying
	for _, value := range constants {
		t.Constants = append(t.Constants, model.Constant{Name: name + value, Value: value})
	}
	return t
}

var (
	older = version{path: olderPath, markers: []string{"+conversion-gen:next=" + newerPath}}
	newer = version{path: newerPath, markers: []string{"+conversion-gen:hub", "+conversion-gen:annotation=conversion.example.com/properties"}}
)

// with is a version with other fields and types.
func (v version) with(fields []*model.Field, types ...*model.Type) version {
	v.fields, v.types = fields, types
	return v
}

// planned returns the plan of the spec's fields, and fails the test without one.
func planned(t *testing.T, older, newer version) map[string]*FieldPlan {
	t.Helper()
	result, err := Make([]*model.Package{newer.build(), older.build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	plans := make(map[string]*FieldPlan)
	for _, pair := range result.Links[0].Pairs {
		if pair.Older.Name == "WidgetSpec" {
			for _, each := range pair.Fields {
				plans[each.newerName()] = each
			}
		}
	}
	return plans
}

// rejected returns the problems of two versions, each line unwrapped.
func rejected(t *testing.T, older, newer version) string {
	t.Helper()
	result, err := Make([]*model.Package{older.build(), newer.build()}, Knative)
	if err == nil {
		t.Fatalf("there is a plan: %v", result)
	}
	return strings.ReplaceAll(err.Error(), "\n        ", " ")
}
