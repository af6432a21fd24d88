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

// levels are two versions with a list of structs without a key, whose one field has a type in each version and may be required.
func levels(olderType, newerType *model.Type, olderOmits, newerOmits model.Omit) (from, to version) {
	of := func(v version, t *model.Type, omit model.Omit) version {
		label := field("Label", t)
		label.Omit = omit
		level := v.own("Level", label)
		return v.with([]*model.Field{field("Levels", slice(level))}, level)
	}
	return of(older, olderType, olderOmits), of(newer, newerType, newerOmits)
}

// New versions leave out zero where older ones always show it. No version shows absent and zero apart, so that nothing is kept about that, also
// not for elements of lists without a key.
func TestAbsence_OmitemptyAddedOrRemoved_KeepsNothing(t *testing.T) {
	for name, types := range map[string][2]*model.Type{
		"a text": {basic("string"), basic("string")}, "a wider number": {basic("int32"), basic("int64")},
		"a name": {older.named("Name", basic("string")), basic("string")},
		"a list": {slice(basic("string")), slice(basic("string"))}, "a map": {mapOf(basic("string"), basic("bool")), mapOf(basic("string"), basic("bool"))},
	} {
		for _, omits := range [][2]model.Omit{{model.Always, model.OmitEmpty}, {model.OmitEmpty, model.Always}, {model.Always, model.OmitZero}} {
			if omits[1] == model.OmitZero && types[0].Elem != nil { // which shows an empty list, and no absent one
				continue
			}
			from, to := levels(types[0], types[1], omits[0], omits[1])
			if name == "a wider number" { // of which a value that does not fit is kept
				from.fields[0].Markers, to.fields[0].Markers = parsed("+conversion:positional"), parsed("+conversion:positional")
			}
			result, err := Make([]*model.Package{from.build(), to.build()}, Knative)
			if err != nil {
				t.Fatalf("%s, %v: %v", name, omits, err)
			}
			for _, version := range result.Versions {
				if label := version.Struct("Level").Field("Label"); label.absence() != byZero {
					t.Errorf("%s, %v: the field of %s is absent by %d, want %d", name, omits, version.Name, label.absence(), byZero)
				}
			}
		}
	}
}

// A pointer shows absent and zero apart, so that one of them has to be kept. So does a list with omitzero, or one that is null in its schema.
func TestAbsence_ShownApartInOneVersion_IsKept(t *testing.T) {
	texts := slice(basic("string"))
	for name, test := range map[string]struct {
		older, newer   *model.Type
		omits          model.Omit
		marker, fields string
	}{
		"a pointer":            {basic("string"), pointer(basic("string")), model.OmitEmpty, "", "v1.Level.Label was absent or zero"},
		"a pointer to a list":  {texts, pointer(texts), model.OmitEmpty, "", "v1.Level.Label was absent or empty"},
		"a list with omitzero": {texts, texts, model.OmitZero, "", "v1.Level.Label was absent or empty"},
		"a list that is null":  {texts, texts, model.Always, "+nullable", "v1.Level.Label was absent or empty"},
	} {
		from, to := levels(test.older, test.newer, model.OmitEmpty, test.omits)
		to.types[0].Underlying.Fields[0].Markers = parsed(test.marker)
		want := "E14 v1beta1.WidgetSpec.Levels ([]v1beta1.Level): the annotation keeps whether " + test.fields + " for its elements, " +
			"and nothing identifies them after an edit\n    fix: represent the field alike in both versions, as a pointer or as a value, or "
		if got := rejected(t, from, to); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		to.types[0].Underlying.Fields[0] = from.types[0].Underlying.Fields[0]
		planned(t, from, to) // the fix
	}
}

// Without omitempty, a list without elements is null or empty. The marker has it be empty, so that empty means absent.
func TestZeroIsAbsent_RequiredList_IsNeverNull(t *testing.T) {
	from, to := levels(slice(basic("string")), pointer(slice(basic("string"))), model.Always, model.OmitEmpty)
	from.types[0].Underlying.Fields[0].Markers, from.markers = parsed("+conversion:zero=absent"), append(from.markers, "+conversion-gen:positional")
	result, err := Make([]*model.Package{from.build(), to.build()}, Knative)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range result.Versions {
		label := version.Struct("Level").Field("Label")
		if isOlder := version != result.Hub; label.IsNeverNull() != isOlder || (label.absence() == byZero) != isOlder {
			t.Errorf("%s: the field is absent by %d, and is never null: %t", version.Name, label.absence(), label.IsNeverNull())
		}
	}
}
