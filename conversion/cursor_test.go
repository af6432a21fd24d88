/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"
)

// written returns the metadata that a Writer makes for an object without other metadata, and read a Reader of that.
func written(t testing.TB, write func(conversion.Writer)) string {
	t.Helper()
	to := conversion.NewWriter()
	write(to)
	var meta metav1.ObjectMeta
	properties.Store(&meta, &metav1.ObjectMeta{}, to)
	return meta.Annotations[annotation]
}

func read(text string) conversion.Reader {
	var meta metav1.ObjectMeta
	return properties.Load(&meta, &metav1.ObjectMeta{Annotations: map[string]string{annotation: text}})
}

func TestCursor_Empty_IsEmptyAtEveryDepth(t *testing.T) {
	list := []oldPort{{Name: "a"}}
	for _, from := range []conversion.Reader{{}, read(""), read("{"), read(`{"f":1}`).Field("spec"), read(`{"f":1}`)} {
		for _, below := range []conversion.Reader{
			from, from.Field("a").Key("b"), conversion.ReadList(from, list, oldPortKey).At(0), conversion.ReadList(from, list, nil).At(0).Field("a"),
		} {
			if below.Bag() != nil || below.WasZero("a") || below.WasAbsent("a") {
				t.Errorf("%+v is not empty", below)
			}
		}
	}
	var to conversion.Writer
	for _, below := range []conversion.Writer{
		to, to.Field("a").Key("b"), conversion.WriteList(to, list, oldPortKey).At(0), conversion.WriteList(to, list, nil).At(0).Field("a"),
	} {
		below.SetBag(conversion.PropertyBag{key: {}})
		below.MarkZero("a")
		below.MarkAbsent("a")
	}
	var meta metav1.ObjectMeta
	properties.Store(&meta, &metav1.ObjectMeta{}, to)
	if meta.Annotations != nil {
		t.Errorf("annotations %v", meta.Annotations)
	}
}

func TestCursor_Written_IsReadBack(t *testing.T) {
	bag := put(t, "here")
	text := written(t, func(to conversion.Writer) {
		spec := to.Field("spec")
		spec.MarkZero("z\"")
		spec.MarkZero("a")
		spec.MarkAbsent("b")
		spec.Field("empty").Field("below").SetBag(conversion.PropertyBag{})
		lists := conversion.WriteList(spec.Field("lists"), [][]oldPort{{{Name: "a"}, {Name: "b"}}, nil}, nil)
		conversion.WriteList(lists.At(0), []oldPort{{Name: "a"}, {Name: "b"}}, oldPortKey).At(1).SetBag(bag)
		lists.At(1)
		spec.Field("map").Key("spec").Key("é~").SetBag(bag)
	})
	const want = `{"c":{"spec":{"c":{"lists":{"c":{"0:07LQewjDQm4":{"c":{"b":{"e":{"v1/probe":{"d":"here"}}}}},"1:dCNOmK_nSY8":{}}},` +
		`"map":{"c":{"spec":{"c":{"é~":{"e":{"v1/probe":{"d":"here"}}}}}}}},"n":["b"],"z":["a","z\""]}},"f":1}`
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	spec := read(text).Field("spec")
	for name, mark := range map[string]struct{ zero, absent bool }{"a": {true, false}, "b": {false, true}, "z\"": {true, false}, "c": {}} {
		if spec.WasZero(name) != mark.zero || spec.WasAbsent(name) != mark.absent {
			t.Errorf("%s: zero %v, absent %v", name, spec.WasZero(name), spec.WasAbsent(name))
		}
	}
	lists := conversion.ReadList(spec.Field("lists"), [][]oldPort{nil, {{Name: "a"}, {Name: "b"}}}, nil)
	inner := conversion.ReadList(lists.At(1), []oldPort{{Name: "b"}}, oldPortKey)
	for name, from := range map[string]conversion.Reader{"list": inner.At(0), "map": spec.Field("map").Key("spec").Key("é~")} {
		expectJSON(t, from.Bag(), bag)
		if name == "list" && lists.At(0).Bag() != nil {
			t.Errorf("%s: the other element has %v", name, lists.At(0).Bag())
		}
	}
}

func TestCursor_SeveralReaders_EachHasItsOwnBag(t *testing.T) {
	from := read(`{"e":{"v1/probe":{"d":1}},"f":1}`)
	first := from.Bag()
	first.Remove(key)
	if len(from.Bag()) != 1 {
		t.Error("two bags are the same")
	}
}

func TestCursor_OrderInTheAnnotation_DoesNotMatter(t *testing.T) {
	from := read(`{"f":1,"c":{"c":{},"b":{"e":{"v2/b":{"d":1}}},"a":{"e":{"v2/a":{"d":1}}}}}`)
	for _, name := range []string{"a", "b"} {
		if got := from.Field(name).Bag(); len(got) != 1 || jsonOf(t, got) != `{"v2/`+name+`":{"d":1}}` {
			t.Errorf("%s has %s", name, jsonOf(t, got))
		}
	}
}

func TestCursor_WrittenTooDeep_IsLeftOut(t *testing.T) {
	data := func(depth int) any {
		var value any = 1
		for range depth {
			value = []any{value}
		}
		return value
	}
	for _, depth := range []struct{ nodes, data int }{{conversion.MaxNesting, conversion.MaxNesting}, {conversion.MaxNesting + 1, 1}, {1, conversion.MaxNesting + 1}} {
		bag := put(t, data(depth.data))
		text := written(t, func(to conversion.Writer) {
			for range depth.nodes {
				to = to.Field("a")
			}
			to.SetBag(bag)
		})
		isIn := depth.nodes <= conversion.MaxNesting && depth.data <= conversion.MaxNesting
		from := read(text)
		for range depth.nodes {
			from = from.Field("a")
		}
		if got := len(from.Bag()) == 1; got != isIn || (text != "") != isIn {
			t.Errorf("%+v: is in %v, want %v: %.60s", depth, got, isIn, text)
		}
	}
}

func TestCursor_NestedTooDeep_IsNotRead(t *testing.T) {
	for depth, isIn := range map[int]bool{conversion.MaxNesting: true, conversion.MaxNesting + 1: false} {
		text := `{"f":1,"c":{"a":` + strings.Repeat(`{"c":{"a":`, depth-1) + `{"e":{"v2/a":{"d":1}}}` + strings.Repeat(`}}`, depth)
		from := read(text)
		for range depth {
			from = from.Field("a")
		}
		if got := len(from.Bag()) == 1; got != isIn {
			t.Errorf("at depth %d: is in %v, want %v", depth, got, isIn)
		}
	}
}

func TestCursor_FieldsWithoutPointers_DistinguishZeroFromAbsent(t *testing.T) {
	var absent *string
	for name, pointer := range map[string]*string{"absent": absent, "zero": new(""), "set": new("x")} {
		optional := written(t, func(to conversion.Writer) { conversion.OptionalValue(to, "f", pointer) })
		required := written(t, func(to conversion.Writer) { conversion.RequiredValue(to, "f", pointer) })
		if (optional != "") != (name == "zero") || (required != "") != (name == "absent") {
			t.Errorf("%s: optional %q, required %q", name, optional, required)
		}
		value := conversion.OptionalValue(conversion.Writer{}, "f", pointer)
		expectJSON(t, conversion.OptionalPointer(read(optional), "f", value), pointer)
		expectJSON(t, conversion.RequiredPointer(read(required), "f", value), pointer)
		expectJSON(t, conversion.OptionalPointer(read(optional), "f", "edited"), "edited")
		expectJSON(t, conversion.RequiredPointer(read(required), "f", "edited"), "edited")
	}
	value := "x"
	if got := conversion.Pointer(&value); got == &value || *got != value || conversion.Pointer(absent) != nil {
		t.Errorf("a copy is %v", got)
	}
}
