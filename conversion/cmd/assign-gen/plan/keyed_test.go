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

func TestKeyed_MapsAndLists_ConvertByTheKey(t *testing.T) {
	text := basic("string")
	stop, named := older.own("Stop", field("City", text)), newer.own("Stop", field("Name", newer.named("Name", text)), field("City", text))
	fee, coded := newer.own("Fee", field("Cents", text)), older.own("Fee", field("Code", pointer(text)), field("Cents", text))
	plans := planned(t,
		older.with([]*model.Field{field("Stops", mapOf(text, stop)), field("Fees", slice(coded), "+listType=map", "+listMapKey=code")}, stop, coded),
		newer.with([]*model.Field{field("Stops", slice(named), "+conversion:key=name"), field("Fees", mapOf(text, fee))}, named, fee))
	for name, want := range map[string]struct{ key, olderKey, newerKey string }{
		"Stops": {"Name", "", "v1/stops$order"}, "Fees": {"Code", "v1beta1/fees$order", ""},
	} {
		got := plans[name]
		if got.Conversion.Rule != OfKeys || got.Conversion.Key.Name() != want.key || got.OlderKey != want.olderKey || got.NewerKey != want.newerKey {
			t.Errorf("%s is converted by %+v with the keys %q and %q", name, got.Conversion, got.OlderKey, got.NewerKey)
		}
	}
}

func TestKeyed_MapsAndListsThatDoNotConvert_AreProblems(t *testing.T) {
	text := basic("string")
	for name, test := range map[string]struct {
		older, newer []*model.Field
		marker, want string
	}{
		"no key": {
			[]*model.Field{field("City", text)},
			[]*model.Field{field("Name", text), field("City", text)},
			"+conversion:positional",
			"a list and a map need the field of the elements that is the key, such as +conversion:key=name at the list",
		},
		"two keys": {
			[]*model.Field{field("City", text)},
			[]*model.Field{field("Name", text), field("City", text)},
			"+conversion:key=name,city",
			"a list and a map need the field of the elements that is the key, such as +conversion:key=name at the list",
		},
		"a key that is a number": {
			[]*model.Field{field("City", text)},
			[]*model.Field{field("Name", basic("int32")), field("City", text)},
			"+conversion:key=name",
			"v1.Stop.Name (int32) is no string, so it cannot be the key of a map",
		},
		"a key that the elements of the map have": {
			[]*model.Field{field("Name", text)},
			[]*model.Field{field("Name", text)},
			"+conversion:key=name",
			"v1.Stop.Name is the key of the map, and the elements of the map have the field, too",
		},
		"a key that another field becomes": {
			[]*model.Field{field("City", text, "+conversion:rename=Name")},
			[]*model.Field{field("Name", text)},
			"+conversion:key=name",
			"v1.Stop.Name is the key of the map, and the elements of the map have the field, too",
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := older.own("Stop", test.older...), newer.own("Stop", test.newer...)
			got := rejected(t,
				older.with([]*model.Field{field("F", mapOf(text, from))}, from),
				newer.with([]*model.Field{field("F", slice(to), test.marker)}, to))
			if want := "E01 v1beta1.WidgetSpec.F (map[string]v1beta1.Stop) → v1.WidgetSpec.F ([]v1.Stop): " + test.want; !strings.Contains(got, want) {
				t.Errorf("the problems are\n%s\nwant %s", got, want)
			}
		})
	}
}
