/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// fieldsIn are the names of the fields that a struct of the older version converts.
func fieldsIn(t *testing.T, older, newer version, name string) []string {
	t.Helper()
	result, err := Make([]*model.Package{newer.build(), older.build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range result.Links[0].Pairs {
		if pair.Older.Name == name {
			return model.Each(pair.Older.Fields, (*Field).Name)
		}
	}
	t.Fatalf("%s is not converted", name)
	return nil
}

// A type that writes its JSON itself may write a field that JSON would leave out, also one of a struct inside of it.
func TestFields_NotInJSON_AreConvertedIfTheTypeWritesItsJSON(t *testing.T) {
	hidden := func() *model.Field {
		return &model.Field{Name: "Raw", JSON: "-", Type: slice(basic("uint8"))}
	}
	for name, test := range map[string]struct {
		methods, around []string
		want            []string
	}{
		"JSON":               {methods: []string{"MarshalJSON"}, want: []string{"Raw", "Shown"}},
		"text":               {methods: []string{"MarshalText"}, want: []string{"Raw", "Shown"}},
		"streamed":           {methods: []string{"MarshalJSONTo"}, want: []string{"Raw", "Shown"}},
		"the type around it": {around: []string{"MarshalJSON"}, want: []string{"Raw", "Shown"}},
		"neither":            {want: []string{"Shown"}},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(v version) version {
				inner := v.own("Inner", hidden(), field("Shown", basic("string")))
				inner.Methods = test.methods
				outer := v.own("Outer", field("Inner", inner))
				outer.Methods = test.around
				return v.with([]*model.Field{field("F", pointer(outer))}, outer, inner)
			}
			if diff := cmp.Diff(test.want, fieldsIn(t, of(older), of(newer), "Inner")); diff != "" {
				t.Error("(-want +got):", diff)
			}
		})
	}
}

// A struct with type and object metadata inside of a kind is a part of the kind, and its metadata belongs to its content.
func TestFields_MetadataInsideOfAKind_IsConverted(t *testing.T) {
	of := func(v version) version {
		spec := v.own("PartSpec")
		part := v.kind("Part", spec)
		return v.with([]*model.Field{field("Parts", slice(part))}, part, spec)
	}
	if diff := cmp.Diff([]string{"TypeMeta", "ObjectMeta", "Spec"}, fieldsIn(t, of(older), of(newer), "Part")); diff != "" {
		t.Error("(-want +got):", diff)
	}
	result, err := Make([]*model.Package{of(newer).build(), of(older).build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range result.Hub.Structs {
		if want := each.Name == "Widget"; each.Root != want {
			t.Errorf("%s is a kind: %t, want %t", each.Name, each.Root, want)
		}
	}
}

// A kind cannot be a part of another one as well: its metadata is that of the object.
func TestFields_KindInsideOfAKind_IsAProblem(t *testing.T) {
	for _, marker := range []string{
		"+kubebuilder:object:root=true", "+genclient", "+k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object",
	} {
		of := func(v version) version {
			spec := v.own("PartSpec")
			part := v.kind("Part", spec)
			part.Markers = parsed(marker)
			return v.with([]*model.Field{field("Parts", mapOf(basic("string"), pointer(part)))}, part, spec)
		}
		const want = "E07 v1.WidgetSpec.Parts (map[string]*v1.Part): v1.Part is a kind, and the metadata of a kind is that of the whole object\n" +
			"    fix: declare a struct with the same fields for the part; or, if the type is no kind, remove its markers for kinds"
		if got := rejected(t, of(older), of(newer)); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %q", marker, got, want)
		}
	}
}

func TestFields_TypeIsSkipped_IsAProblem(t *testing.T) {
	part := older.own("Part")
	part.Markers = parsed("+conversion:skip")
	got := rejected(t, older.with([]*model.Field{field("Parts", slice(part))}, part), newer.with(nil))
	const want = "E08 v1beta1.Part: the type is marked +conversion:skip and is used by WidgetSpec.Parts\n    fix: remove +conversion:skip, or the field"
	if !strings.Contains(got, want) {
		t.Errorf("the problems are\n%s\nwant %q", got, want)
	}
}

// Values are nested without bound in types that lead to themselves, directly or by others, also in those of other modules.
func TestNested_TypesThatHoldThemselves_AreFound(t *testing.T) {
	node, left, schema := older.own("Node"), older.own("Left"), foreign("Schema", structOf())
	node.Underlying.Fields = []*model.Field{field("Left", pointer(left))}
	left.Underlying.Fields = []*model.Field{field("Nodes", slice(node))}
	schema.Underlying.Fields = []*model.Field{field("Not", mapOf(basic("string"), schema))}
	fields := []*model.Field{field("Tree", node), field("Other", pointer(node)), field("Schema", schema)}
	newerNode := newer.own("Node")
	from, to := older.with(fields, node, left), newer.with([]*model.Field{field("Tree", newerNode)}, newerNode)
	result, err := Make([]*model.Package{from.build(), to.build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"duck.Schema", "v1beta1.Left"}, nil}
	for i, version := range result.Versions {
		if diff := cmp.Diff(want[i], version.Nested()); diff != "" {
			t.Errorf("%s (-want +got): %s", version.Name, diff)
		}
	}
}
