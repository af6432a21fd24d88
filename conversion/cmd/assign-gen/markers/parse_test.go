/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package markers

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

func TestParse_Markers_ReturnsSettings(t *testing.T) {
	var problems problem.List
	gotPackage := ParsePackage([]model.Marker{
		{Name: "conversion-gen:next", Value: "example.com/v1"},
		{Name: "conversion-gen:retired", Value: "v1alpha0, v1alpha1"},
		{Name: "conversion-gen:former", Value: "a.example.com/data"},
		{Name: "k8s:deepcopy-gen", Value: "package"},
		{Name: "conversion-gen:annotation", Value: "a.example.com/b"},
	}, "p", &problems)
	wantPackage := Package{Next: "example.com/v1", Annotation: "a.example.com/b", Retired: []string{"v1alpha0", "v1alpha1"}, Former: []string{"a.example.com/data"}}
	if diff := cmp.Diff(wantPackage, gotPackage); diff != "" {
		t.Error("of the package (-want +got):", diff)
	}

	gotType := ParseType([]model.Marker{
		{Name: "conversion:name", Value: "Rule, Policy"}, {Name: "conversion:augment"}, {Name: "conversion:skip", Value: "v1alpha1"}, {Name: "genclient"},
	}, "p.T", &problems)
	if diff := cmp.Diff(Type{Names: []string{"Rule", "Policy"}, Augment: true, SkipIn: []string{"v1alpha1"}}, gotType); diff != "" {
		t.Error("of the type (-want +got):", diff)
	}
	gotType = ParseType([]model.Marker{{Name: "conversion:augment", Value: "metadata"}, {Name: "conversion:with", Value: "Up,Down"}}, "p.T", &problems)
	if diff := cmp.Diff(Type{Augment: true, Metadata: true, With: &Functions{Up: "Up", Down: "Down"}}, gotType); diff != "" {
		t.Error("of the type with functions (-want +got):", diff)
	}
	if got := ParseType([]model.Marker{{Name: "conversion:skip"}}, "p.T", &problems); !got.Skip {
		t.Error("skip without versions does not skip")
	}

	gotField := ParseField([]model.Marker{
		{Name: "conversion:rename", Value: "Status.Address"},
		{Name: "conversion:strategy", Value: "drop,reason=it was never read, and never will be"},
		{Name: "conversion:older", Value: "augment,fixed=it has one value, always"},
		{Name: "conversion:enum", Value: "Internal:local,External:public,fallback=Internal"},
		{Name: "conversion:with", Value: "up, down,metadata"},
		{Name: "conversion:unit", Value: "seconds"},
		{Name: "conversion:zero", Value: "absent"},
		{Name: "conversion:sensitive"},
		{Name: "conversion:positional"},
		{Name: "listType", Value: "map"},
		{Name: "listMapKey", Value: "name"},
		{Name: "listMapKey", Value: "port"},
		{Name: "optional"},
	}, "p.T.F", &problems)
	wantField := Field{
		Rename:       [][]string{{"Status", "Address"}},
		ToNext:       Treatment{Strategy: Drop, Reason: "it was never read, and never will be"},
		ToOlder:      Treatment{Strategy: Augment, Reason: "it has one value, always", Fixed: true},
		Enum:         &Enum{Values: []EnumValue{{"Internal", "local"}, {"External", "public"}}, Fallback: "Internal"},
		With:         &Functions{Up: "up", Down: "down", Metadata: true},
		Unit:         "seconds",
		ZeroIsAbsent: true, Sensitive: true, Positional: true, ListMapKeys: []string{"name", "port"}, KeyMarker: "+listMapKey",
	}
	if diff := cmp.Diff(wantField, gotField); diff != "" {
		t.Error("of the field (-want +got):", diff)
	}
	if err := problems.Err(); err != nil {
		t.Error("problems with right markers:", err)
	}
}

func TestParse_UnknownArgumentOfAugment_IsAProblem(t *testing.T) {
	var problems problem.List
	if got := ParseType([]model.Marker{{Name: "conversion:augment", Value: "object"}}, "v1.T", &problems); got.Metadata {
		t.Error("the hook gets the metadata")
	}
	want := []problem.Problem{{
		Code: problem.BadMarker, Where: "v1.T", Text: `the marker +conversion:augment has the value "object", which it does not know`,
		Fix: "write +conversion:augment or +conversion:augment=metadata",
	}}
	if diff := cmp.Diff(want, problems.All()); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestParse_KeyOfAListThatIsNoMap_IsAProblem(t *testing.T) {
	var problems problem.List
	got := ParseField([]model.Marker{{Name: "listType", Value: "atomic"}, {Name: "conversion:key", Value: "kind, name"}}, "v1.T.F", &problems)
	if diff := cmp.Diff(Field{ListMapKeys: []string{"kind", "name"}, KeyMarker: "+conversion:key"}, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
	if err := problems.Err(); err != nil {
		t.Error("problems with a right marker:", err)
	}

	got = ParseField([]model.Marker{
		{Name: "conversion:key", Value: "kind"}, {Name: "listType", Value: "map"}, {Name: "listMapKey", Value: "name"},
	}, "v1.T.F", &problems)
	if diff := cmp.Diff(Field{ListMapKeys: []string{"name"}, KeyMarker: "+listMapKey"}, got); diff != "" {
		t.Error("of a map (-want +got):", diff)
	}
	want := []problem.Problem{{
		Code: problem.BadMarker, Where: "v1.T.F", Text: "+listMapKey identifies the list's elements, so that +conversion:key has no effect", Fix: "remove +conversion:key",
	}}
	if diff := cmp.Diff(want, problems.All()); diff != "" {
		t.Error("of a map (-want +got):", diff)
	}
}

// A marker that is not obeyed is worse than none.
func TestParse_InvalidMarkers_AreProblems(t *testing.T) {
	const (
		rename       = "write +conversion:rename=NewField or +conversion:rename=Struct.Field"
		fieldMarkers = "the markers of a field are +conversion:rename, +conversion:alias, +conversion:flatten, +conversion:strategy, +conversion:older, +conversion:enum, +conversion:with, +conversion:unit, " +
			"+conversion:zero, +conversion:sensitive, +conversion:positional, +conversion:key"
	)
	for name, test := range map[string]struct {
		markers   []model.Marker
		text, fix string
	}{
		"misspelt": {
			[]model.Marker{{Name: "conversion:renam", Value: "X"}},
			`there is no marker +conversion:renam; did you mean "conversion:rename"?`, rename,
		},
		"unknown": {
			[]model.Marker{{Name: "conversion:whatever"}},
			`there is no marker +conversion:whatever`, fieldMarkers,
		},
		"misspelt prefix": {
			[]model.Marker{{Name: "konversion:rename", Value: "X"}},
			`there is no marker +konversion:rename; did you mean "conversion:rename"?`, rename,
		},
		"misspelt, of another place": {
			[]model.Marker{{Name: "conversion:agument"}},
			`there is no marker +conversion:agument; did you mean "conversion:augment"?`, fieldMarkers,
		},
		"only the prefix": {
			[]model.Marker{{Name: "conversion"}},
			`there is no marker +conversion`, fieldMarkers,
		},
		"in the wrong place": {
			[]model.Marker{{Name: "conversion:augment"}},
			`the marker +conversion:augment belongs to a type, not to a field`, "move it to a type, or remove it",
		},
		"of a package": {
			[]model.Marker{{Name: "conversion-gen:hub"}},
			`the marker +conversion-gen:hub belongs to the package clause in doc.go, not to a field`, "move it to the package clause in doc.go, or remove it",
		},
		"twice": {
			[]model.Marker{{Name: "conversion:sensitive"}, {Name: "conversion:sensitive"}},
			`the marker +conversion:sensitive is repeated here`, "write it once",
		},
		"a value too many": {
			[]model.Marker{{Name: "conversion:sensitive", Value: "yes"}},
			`the marker +conversion:sensitive takes no value, and has "yes"`, "write +conversion:sensitive",
		},
		"no value": {
			[]model.Marker{{Name: "conversion:rename"}},
			`the marker +conversion:rename needs a value`, rename,
		},
		"misspelt strategy": {
			[]model.Marker{{Name: "conversion:strategy", Value: "agument"}},
			`there is no strategy "agument"; did you mean "augment"?`, "write +conversion:strategy=augment, =augment,fixed=TEXT, =stash or =drop,reason=TEXT",
		},
		"zero that means something else": {
			[]model.Marker{{Name: "conversion:zero", Value: "default"}}, `the marker +conversion:zero has the value "default", which it does not know`, "write +conversion:zero=absent",
		},
		"fixed without a reason": {
			[]model.Marker{{Name: "conversion:strategy", Value: "augment,fixed="}},
			`the hook fills the field even if there is no value, and no reason is given`,
			"write +conversion:strategy=augment, =augment,fixed=TEXT, =stash or =drop,reason=TEXT",
		},
		"fixed without a hook": {
			[]model.Marker{{Name: "conversion:strategy", Value: "stash,fixed=it is so"}},
			`the marker +conversion:strategy has the argument "fixed=it is so", which it does not know`,
			"write +conversion:strategy=augment, =augment,fixed=TEXT, =stash or =drop,reason=TEXT",
		},
		"dropped without a reason": {
			[]model.Marker{{Name: "conversion:strategy", Value: "drop"}},
			`dropping a field loses what users wrote, and no reason is given`, "write +conversion:strategy=augment, =augment,fixed=TEXT, =stash or =drop,reason=TEXT",
		},
		"unknown argument": {
			[]model.Marker{{Name: "conversion:strategy", Value: "drop,raeson=none"}},
			`the marker +conversion:strategy has the argument "raeson=none", which it does not know`, "write +conversion:strategy=augment, =augment,fixed=TEXT, =stash or =drop,reason=TEXT",
		},
		"enum without a pair": {
			[]model.Marker{{Name: "conversion:enum", Value: "A:b,C"}},
			`the enum map has the part "C", which is no pair of an older and a newer value, or maps a value again`,
			"write +conversion:enum=OLD:NEW,OLD:NEW,fallback=OLD or +conversion:enum=open",
		},
		"a misspelt unit": {
			[]model.Marker{{Name: "conversion:unit", Value: "second"}},
			`the marker +conversion:unit has the value "second", which it does not know; did you mean "seconds"?`,
			"write +conversion:unit=nanoseconds or +conversion:unit=microseconds or +conversion:unit=milliseconds or +conversion:unit=seconds or " +
				"+conversion:unit=minutes or +conversion:unit=hours or +conversion:unit=days",
		},
		"one function": {
			[]model.Marker{{Name: "conversion:with", Value: "up"}},
			`"up" does not name two functions of the storage package, the one to the next version first`,
			"write +conversion:with=UpFunc,DownFunc or +conversion:with=UpFunc,DownFunc,metadata or +conversion:with=UpFunc,DownFunc,fixed=TEXT",
		},
		"functions of another package": {
			[]model.Marker{{Name: "conversion:with", Value: "other.Up,other.Down"}},
			`"other.Up,other.Down" does not name two functions of the storage package, the one to the next version first`,
			"write +conversion:with=UpFunc,DownFunc or +conversion:with=UpFunc,DownFunc,metadata or +conversion:with=UpFunc,DownFunc,fixed=TEXT",
		},
		"functions with an unknown argument": {
			[]model.Marker{{Name: "conversion:with", Value: "up,down,metadat"}},
			`"up,down,metadat" does not name two functions of the storage package, the one to the next version first`,
			"write +conversion:with=UpFunc,DownFunc or +conversion:with=UpFunc,DownFunc,metadata or +conversion:with=UpFunc,DownFunc,fixed=TEXT",
		},
		"enum with a value twice": {
			[]model.Marker{{Name: "conversion:enum", Value: "A:b,A:c"}},
			`the enum map has the part "A:c", which is no pair of an older and a newer value, or maps a value again`,
			"write +conversion:enum=OLD:NEW,OLD:NEW,fallback=OLD or +conversion:enum=open",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var problems problem.List
			ParseField(test.markers, "v1.T.F", &problems)
			want := []problem.Problem{{Code: problem.BadMarker, Where: "v1.T.F", Text: test.text, Fix: test.fix}}
			if diff := cmp.Diff(want, problems.All()); diff != "" {
				t.Error("(-want +got):", diff)
			}
		})
	}
}
