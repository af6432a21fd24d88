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

// rules spells a conversion from the outside to the inside.
func rules(c *Conversion) string {
	names := map[Rule]string{
		Copy: "copy", Cast: "cast", DeepCopy: "deep copy", Call: "call", OfPointer: "pointer", OfSlice: "slice", OfArray: "array", OfMap: "map", Widen: "widen", MapEnum: "enum",
	}
	text := names[c.Rule]
	if c.Elem != nil {
		text += " of " + rules(c.Elem)
	}
	return text
}

func TestConvert_ConvertibleTypes_ReturnsTheConversion(t *testing.T) {
	url := foreign("URL", structOf())
	resources := foreign("ResourceList", mapOf(basic("string"), url))
	olderRule, newerRule := older.own("Rule", field("Name", basic("string"))), newer.own("Rule", field("Name", basic("string")))
	olderOld, newerNew := older.own("Old", field("Name", basic("string"))), newer.own("New", field("Name", basic("string")))
	olderOld.Markers = parsed("+conversion:name=New")
	olderList, newerList := older.own("List"), newer.own("List")
	olderList.Underlying.Fields = []*model.Field{field("Next", pointer(olderList))}
	newerList.Underlying.Fields = []*model.Field{field("Next", pointer(newerList))}

	for name, test := range map[string]struct {
		older, newer *model.Type
		want         string
	}{
		"a builtin type":               {basic("string"), basic("string"), "pointer of copy"},
		"a value and a pointer":        {basic("int32"), pointer(basic("int32")), "pointer of copy"},
		"a pointer and a value":        {pointer(basic("bool")), basic("bool"), "pointer of copy"},
		"a name and what is under it":  {older.named("Path", basic("string")), basic("string"), "pointer of copy"},
		"two names of one type":        {older.named("Path", basic("string")), newer.named("Route", basic("string")), "pointer of copy"},
		"a name of a list":             {older.named("Paths", slice(basic("string"))), slice(basic("string")), "slice of copy"},
		"a type of another module":     {url, pointer(url), "pointer of deep copy"},
		"another module's map":         {resources, resources, "deep copy"},
		"another module's string":      {foreign("UID", basic("string"), "String"), foreign("UID", basic("string"), "String"), "pointer of copy"},
		"another module's name":        {foreign("UID", basic("string"), "String"), newer.named("Path", basic("string")), "pointer of cast"},
		"a string and another's name":  {pointer(basic("string")), foreign("UID", basic("string"), "String"), "pointer of cast"},
		"a list of another's names":    {slice(foreign("UID", basic("string"), "String")), slice(basic("string")), "slice of cast"},
		"another's names as keys":      {mapOf(foreign("UID", basic("string"), "String"), basic("bool")), mapOf(basic("string"), basic("bool")), "map of copy"},
		"an integer with more room":    {basic("int32"), pointer(basic("int64")), "pointer of widen"},
		"an unsigned one":              {basic("uint8"), basic("uint16"), "pointer of widen"},
		"a float":                      {basic("float32"), basic("float64"), "pointer of widen"},
		"numbers in a list":            {slice(basic("int32")), slice(basic("int64")), "slice of widen"},
		"a struct":                     {olderRule, pointer(newerRule), "pointer of call"},
		"a struct with another name":   {pointer(olderOld), newerNew, "pointer of call"},
		"a struct that holds itself":   {pointer(olderList), pointer(newerList), "pointer of call"},
		"a list of structs":            {slice(olderRule), slice(newerRule), "slice of call"},
		"a list of pointers":           {slice(pointer(olderRule)), slice(pointer(newerRule)), "slice of pointer of call"},
		"a map of structs":             {mapOf(basic("string"), olderRule), mapOf(basic("string"), newerRule), "map of call"},
		"a map of lists":               {mapOf(basic("string"), slice(olderRule)), mapOf(basic("string"), slice(newerRule)), "map of slice of call"},
		"a map whose keys have a name": {mapOf(older.named("Key", basic("string")), basic("string")), mapOf(basic("string"), basic("string")), "map of copy"},
		"a pointer to a list":          {pointer(slice(basic("string"))), pointer(slice(basic("string"))), "slice of copy"},
		"an array":                     {array(3, basic("int8")), array(3, basic("int8")), "pointer of array of copy"},
		"bytes":                        {slice(basic("uint8")), slice(basic("uint8")), "slice of copy"},
	} {
		t.Run(name, func(t *testing.T) {
			plans := planned(t,
				older.with([]*model.Field{field("F", test.older)}, olderRule, olderOld, olderList),
				newer.with([]*model.Field{field("F", test.newer)}, newerRule, newerNew, newerList))
			if plans["F"].Fate != Converted {
				t.Fatalf("the field is %s", plans["F"].Fate)
			}
			if got := rules(plans["F"].Conversion); got != test.want {
				t.Errorf("the conversion is %q, want %q", got, test.want)
			}
		})
	}
}

func TestConvert_TypesThatDoNotConvert_ReturnsNothing(t *testing.T) {
	olderRule, newerRule := older.own("Rule"), newer.own("Rule")
	olderOther, newerOther := older.own("Other"), newer.own("Other")
	duckOld := foreign("Addressable", structOf())
	duckOld.Package, duckOld.PackageName = "example.com/oldduck", "oldduck"

	for name, test := range map[string]struct {
		older, newer *model.Type
		want         string
	}{
		"a list and a map":           {slice(olderRule), mapOf(basic("string"), newerRule), "([]v1beta1.Rule) → v1.WidgetSpec.F (map[string]v1.Rule): a list and a map need the field of the elements that is the key, such as +conversion:key=name at the list"},
		"a list and one":             {slice(basic("string")), basic("string"), "([]string) → v1.WidgetSpec.F (string): no conversion from slice to string"},
		"one and a list":             {basic("string"), slice(basic("string")), "no conversion from string to slice"},
		"a number and a text":        {basic("int32"), basic("string"), "no conversion from int32 to string"},
		"a number with less room":    {basic("int64"), basic("int32"), "int32 is narrower than int64"},
		"a number that has a sign":   {basic("int32"), basic("uint32"), "no conversion from int32 to uint32"},
		"a whole number and a float": {basic("int32"), basic("float64"), "no conversion from int32 to float64"},
		"a scalar and a struct":      {basic("string"), newerRule, "no conversion from string to v1.Rule"},
		"a pointer in a list": {
			slice(basic("string")), slice(pointer(basic("string"))), "no conversion from string to *string",
		},
		"pointers in a map": {
			mapOf(basic("string"), pointer(olderRule)), mapOf(basic("string"), newerRule), "no conversion from *v1beta1.Rule to v1.Rule",
		},
		"another module's type with its JSON": {
			foreign("Level", basic("string"), "MarshalJSON"), basic("string"), "no conversion from duck.Level to string",
		},
		"a key with its text": {
			mapOf(foreign("Level", basic("string"), "MarshalText"), basic("int32")), mapOf(basic("string"), basic("int32")), "the keys are duck.Level and string",
		},
		"a struct of ours and of others": {
			olderRule, foreign("Rule", structOf()), "no conversion from v1beta1.Rule to duck.Rule",
		},
		"types of other modules that differ": {
			duckOld, foreign("Addressable", structOf()),
			"oldduck.Addressable and duck.Addressable are different types of other packages, and what their own conversions lose is unknown",
		},
		"structs that do not correspond": {pointer(olderRule), pointer(newerOther), "v1beta1.Rule becomes v1.Rule and not v1.Other; if it becomes both, mark the type +conversion:name=Rule,Other"},
		"a struct without counterpart": {
			older.own("Gone"), newerOther, "v1beta1.Gone has no counterpart in the next version; if that is v1.Other, mark the type +conversion:name=Other",
		},
		"arrays of other lengths":    {array(2, basic("string")), array(3, basic("string")), "an array of 2 becomes one of 3"},
		"elements that are pointers": {slice(olderOther), slice(pointer(newerOther)), "no conversion from v1beta1.Other to *v1.Other"},
	} {
		t.Run(name, func(t *testing.T) {
			types := []*model.Type{olderRule, olderOther}
			if test.older.Name == "Gone" {
				types = append(types, test.older)
			}
			// The structs have to be reachable whatever the field in question holds.
			got := rejected(t,
				older.with([]*model.Field{field("F", test.older), field("Rule", olderRule), field("Other", olderOther)}, types...),
				newer.with([]*model.Field{field("F", test.newer), field("Rule", newerRule), field("Other", newerOther)}, newerRule, newerOther))
			if !strings.HasPrefix(got, "E01 v1beta1.WidgetSpec.F (") || !strings.Contains(got, test.want+"\n    fix: ") {
				t.Errorf("the problems are\n%s\nwant E01 for the field with %q", got, test.want)
			}
		})
	}
}

func TestConvert_TypesThatCannotBeStored_AreProblems(t *testing.T) {
	for name, test := range map[string]struct {
		kind *model.Type
		want string
	}{
		"keys that are no strings": {mapOf(basic("int32"), basic("string")), "a map's keys are int32, and JSON has only strings"},
		"an interface":             {&model.Type{Kind: model.Unsupported, Name: "any"}, "what an interface holds is unknown"},
		"a channel":                {&model.Type{Kind: model.Unsupported, Name: "chan int"}, "chan int cannot be written as JSON"},
		"a function":               {&model.Type{Kind: model.Unsupported, Name: "func()"}, "func() cannot be written as JSON"},
		"a struct without a name":  {&model.Type{Kind: model.Unsupported, Name: "struct{A int}"}, "a struct has no name, so it has no storage type"},
		"an instance":              {&model.Type{Kind: model.Unsupported, Name: "sets.Set[string]"}, "sets.Set[string] is an instance of a generic type, and has no name"},
		"no deep copy":             {foreign("Opaque", structOf(field("P", pointer(basic("int")))), "String"), "duck.Opaque belongs to another package and has no DeepCopyInto"},
		"inside of a list":         {slice(pointer(mapOf(basic("bool"), basic("string")))), "a map's keys are bool, and JSON has only strings"},
	} {
		t.Run(name, func(t *testing.T) {
			got := rejected(t, older.with([]*model.Field{field("F", test.kind)}), newer.with(nil))
			if want := "E07 v1beta1.WidgetSpec.F (" + test.kind.String() + "): " + test.want + "\n    fix: "; !strings.HasPrefix(got, want) {
				t.Errorf("the problems are\n%s\nwant %q", got, want)
			}
		})
	}
}

func TestConvert_FieldOfOneVersionThatJSONLeavesOut_IsAProblem(t *testing.T) {
	got := rejected(t, older.with([]*model.Field{field("F", opaque)}), newer.with(nil))
	const want = "E07 v1beta1.WidgetSpec.F (duck.Opaque): only one version has the field, so it is kept as JSON, and duck.Opaque.Hidden does not survive that\n" +
		"    fix: use another type, or leave it to a hook (+conversion:strategy=augment)"
	if got != want {
		t.Errorf("the problems are\n%s\nwant %q", got, want)
	}
}
