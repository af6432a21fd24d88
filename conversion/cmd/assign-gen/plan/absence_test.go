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
	} {
		for _, omits := range [][2]model.Omit{{model.Always, model.OmitEmpty}, {model.OmitEmpty, model.Always}, {model.Always, model.OmitZero}} {
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

// A pointer shows absent and zero apart, so that one of them has to be kept.
func TestAbsence_PointerInOneVersion_IsKept(t *testing.T) {
	from, to := levels(basic("string"), pointer(basic("string")), model.Always, model.OmitEmpty)
	const want = "E14 v1beta1.WidgetSpec.Levels ([]v1beta1.Level): the annotation keeps whether v1.Level.Label was absent or zero for its elements, " +
		"and nothing identifies them after an edit\n    fix: add +conversion:zero=absent to the field if zero means absent, or "
	if got := rejected(t, from, to); !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}
