/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// secrets are two versions with fields of types of different modules.
func secrets(markers []string, fields ...*model.Field) (olderVersion, newerVersion version) {
	text := basic("string")
	theirs := foreign("Selector", structOf(field("Name", text), field("Optional", text)))
	ours := newer.own("Selector", field("Name", text))
	olderVersion = older.with(append(fields, field("A", theirs), field("B", pointer(theirs)), field("C", slice(theirs)), field("D", mapOf(text, pointer(theirs)))))
	olderVersion.markers = append(olderVersion.markers, markers...)
	return olderVersion, newer.with([]*model.Field{field("A", ours), field("B", pointer(ours)), field("C", slice(ours)), field("D", mapOf(text, pointer(ours)))}, ours)
}

func TestFunctions_TypeOfAnotherModule_AreAccepted(t *testing.T) {
	olderVersion, newerVersion := secrets([]string{"+conversion-gen:with=example.com/duck.Selector,up,down"})
	result, err := Make([]*model.Package{olderVersion.build(), newerVersion.build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range result.Links[0].Pairs {
		for _, each := range pair.Fields {
			innermost := each.Conversion
			for innermost.Elem != nil {
				innermost = innermost.Elem
			}
			if pair.Older.Name == "WidgetSpec" && (innermost.Rule != ByFunctions || innermost.Functions.Up != "up") {
				t.Errorf("%s is converted by rule %d", each.Older.Name(), innermost.Rule)
			}
		}
	}
}

func TestFunctions_WrongSignatures_AreProblems(t *testing.T) {
	for name, test := range map[string]struct {
		markers []string
		want    string
	}{
		"one problem for all fields": {
			nil,
			`E01 v1beta1.WidgetSpec.A (duck.Selector) → v1.WidgetSpec.A (v1.Selector): no conversion from duck.Selector to v1.Selector; 3 more fields have these types
    fix: convert it by functions (+conversion:with=UpFunc,DownFunc) or a hook (+conversion:strategy=augment), or keep both apart (+conversion:strategy=stash); ` +
				"for all fields with these types, add +conversion-gen:with=example.com/duck.Selector,UpFunc,DownFunc to doc.go",
		},
		"another type": {
			[]string{"+conversion-gen:with=example.com/duck.Selectro,up,down"},
			"E08 v1beta1: no field holds example.com/duck.Selectro that becomes another type in the next version\n" +
				"    fix: correct or remove +conversion-gen:with",
		},
		"no functions": {
			[]string{"+conversion-gen:with=example.com/duck.Selector"},
			`E08 v1beta1: "example.com/duck.Selector" does not name a type with its import path and two functions of the storage package, the one to the next version first
    fix: write +conversion-gen:with=IMPORT/PATH.Type,UpFunc,DownFunc`,
		},
		"twice": {
			[]string{"+conversion-gen:with=example.com/duck.Selector,up,down", "+conversion-gen:with=example.com/duck.Selector,up,other"},
			"E08 v1beta1: example.com/duck.Selector has functions already",
		},
	} {
		t.Run(name, func(t *testing.T) {
			olderVersion, newerVersion := secrets(test.markers)
			if got := rejected(t, olderVersion, newerVersion); !strings.Contains(got, test.want) {
				t.Errorf("the problems are\n%s\nwant %q", got, test.want)
			}
		})
	}
}

func TestConvert_TwoFieldsOfTheSameTypes_AreOneProblem(t *testing.T) {
	theirs, ours := foreign("Selector", structOf()), newer.own("Selector")
	got := rejected(t, older.with([]*model.Field{field("A", theirs), field("B", slice(theirs))}),
		newer.with([]*model.Field{field("A", ours), field("B", slice(ours))}, ours))
	if want := "no conversion from duck.Selector to v1.Selector; 1 more field has these types\n"; !strings.Contains(got, want) {
		t.Errorf("the problems are\n%s\nwant %q", got, want)
	}
}
