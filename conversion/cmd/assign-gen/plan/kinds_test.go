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

func TestKinds_MarkersThatAreWrong_AreProblems(t *testing.T) {
	for name, test := range map[string]struct{ kind, marker, want string }{
		"a version that does not exist": {
			"Widget", "+conversion:skip=v9",
			`E08 v1beta1.Widget: there is no version "v9"; did you mean "v1"?` + "\n    fix: versions are v1beta1, v1",
		},
		"a version that has the kind": {
			"Widget", "+conversion:skip=v1",
			"E08 v1beta1.Widget: the kind is said to be missing in v1, which has it\n    fix: remove v1 from +conversion:skip",
		},
		"a newer version": {
			"Gadget", "+conversion:skip=v1",
			"E13 v1.Gadget: the kind is in an older version, so what is written there would be lost here\n" +
				"    fix: add it here too, or mark it +conversion:skip in all versions and keep it out of the CRD's others",
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := older.own("GadgetSpec")
			from := older.with(nil, older.kind("Gadget", spec), spec).build()
			from.Type(test.kind).Markers = parsed(test.marker)
			_, err := Make([]*model.Package{from, newer.with(nil).build()}, Knative)
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\n        ", " "), test.want) {
				t.Errorf("the problems are\n%v\nwant %s", err, test.want)
			}
		})
	}
}
