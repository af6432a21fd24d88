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

func TestLists_PointersToThem_Convert(t *testing.T) {
	text := basic("string")
	raw := func() *model.Type {
		raw := foreign("RawMessage", slice(basic("uint8")), "MarshalJSON", "UnmarshalJSON")
		raw.Package, raw.PackageName = "encoding/json", "json"
		return raw
	}
	header := foreign("Header", mapOf(text, text), "Get")
	plans := planned(t,
		older.with([]*model.Field{
			field("List", pointer(slice(text))), field("Map", mapOf(text, text)), field("Named", pointer(older.named("Names", slice(text)))),
			field("Raw", pointer(raw())), field("Raws", pointer(slice(raw()))), field("Header", pointer(header)),
		}),
		newer.with([]*model.Field{
			field("List", slice(text)), field("Map", pointer(mapOf(text, text))), field("Named", pointer(slice(text))),
			field("Raw", raw()), field("Raws", slice(raw())), field("Header", header),
		}))
	for name, want := range map[string]Rule{"List": OfSlice, "Map": OfMap, "Named": OfSlice, "Raw": OfSlice, "Raws": OfSlice, "Header": OfMap} {
		each := plans[name]
		if each.Conversion.Rule != want || each.OlderKey != "" || each.Older.Storage.Kind == model.Pointer {
			t.Errorf("%s is converted by %+v from %s", name, each.Conversion, each.Older.Storage)
		}
	}
	if got := plans["List"].Older.absence(); got != byNil {
		t.Errorf("a pointer to a list is absent by %d, want %d", got, byNil)
	}
}

// A hook may keep any value for an element.
func TestLists_ElementsWithAHook_NeedAKey(t *testing.T) {
	item, newItem := older.own("Item"), newer.own("Item")
	item.Markers = parsed("+conversion:augment")
	got := rejected(t, older.with([]*model.Field{field("Items", slice(item))}, item), newer.with([]*model.Field{field("Items", slice(newItem))}, newItem))
	const want = "E14 v1.WidgetSpec.Items ([]v1.Item): the annotation keeps values of the hook of v1beta1.Item for its elements, " +
		"and nothing identifies them after an edit\n"
	if !strings.Contains(got, want) {
		t.Errorf("the problems are\n%s\nwant %q", got, want)
	}
}

// A type that shares memory with its copies cannot be copied from outside of its module.
func TestLists_PointersOfOtherModules_AreRejected(t *testing.T) {
	list := foreign("List", slice(pointer(basic("string"))), "MarshalJSON")
	got := rejected(t, older.with([]*model.Field{field("F", list)}), newer.with([]*model.Field{field("F", list)}))
	if want := "E07 v1.WidgetSpec.F (duck.List): duck.List belongs to another package and has no DeepCopyInto"; !strings.Contains(got, want) {
		t.Errorf("the problems are\n%s\nwant %s", got, want)
	}
}

func TestInstanceOfAGenericType_NeedsAName(t *testing.T) {
	instance := &model.Type{Kind: model.Unsupported, Name: "v1beta1.Box[v1beta1.Item]"}
	got := rejected(t, older.with([]*model.Field{field("F", slice(instance))}), newer.with(nil))
	const want = "E07 v1beta1.WidgetSpec.F ([]v1beta1.Box[v1beta1.Item]): v1beta1.Box[v1beta1.Item] is an instance of a generic type, and has no name\n" +
		"    fix: declare a type of it, such as type NAME Box[Item]"
	if got != want {
		t.Errorf("the problems are\n%s\nwant %s", got, want)
	}
}
