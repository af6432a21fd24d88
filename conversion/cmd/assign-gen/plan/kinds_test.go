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

// kind describes a kind of the package with its own spec.
func (v version) kind(name string, spec *model.Type) *model.Type {
	meta := func(name string) *model.Type {
		return &model.Type{Kind: model.Named, Package: metaPackage, PackageName: "v1", Name: name, Underlying: structOf()}
	}
	return v.own(
		name,
		&model.Field{Name: "TypeMeta", Embedded: true, Type: meta("TypeMeta")},
		&model.Field{Name: "ObjectMeta", JSON: "metadata", Embedded: true, Type: meta("ObjectMeta")},
		&model.Field{Name: "Spec", JSON: "spec", Type: spec},
	)
}

// gadgets are two versions with another kind, Gadget, whose spec cannot be converted.
func gadgets(t *testing.T, kinds ...string) (all *Plan, problems string) {
	t.Helper()
	olderSpec, newerSpec := older.own("GadgetSpec", field("Size", basic("string"))), newer.own("GadgetSpec", field("Size", basic("int32")))
	all, err := Make([]*model.Package{
		older.with(nil, older.kind("Gadget", olderSpec), olderSpec).build(),
		newer.with(nil, newer.kind("Gadget", newerSpec), newerSpec).build(),
	}, Knative, kinds...)
	if err != nil {
		problems = err.Error()
	}
	return all, problems
}

func TestKinds_OthersAreNotConverted(t *testing.T) {
	if _, problems := gadgets(t); !strings.HasPrefix(problems, "E01 v1beta1.GadgetSpec.Size") {
		t.Fatalf("without --kinds the problems are %s", problems)
	}
	all, problems := gadgets(t, "Widget")
	if problems != "" {
		t.Fatal(problems)
	}
	for _, version := range all.Versions {
		if diff := cmp.Diff([]string{"Widget", "WidgetSpec"}, model.Each(version.Structs, func(s *Struct) string { return s.Name })); diff != "" {
			t.Errorf("%s has (-want +got): %s", version.Name, diff)
		}
	}
}

func TestKinds_UnknownOnesAreSuggested(t *testing.T) {
	const want = "E13 --kinds: there is no kind \"Wigdet\"; did you mean \"Widget\"?\n    fix: kinds are Gadget, Widget"
	if _, problems := gadgets(t, "Wigdet"); problems != want {
		t.Errorf("the problems are %s\nwant %s", problems, want)
	}
}
