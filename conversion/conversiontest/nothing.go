/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/mallard-dev/mallard/conversion"
)

// fromNothing expects that nothing becomes something: of an object that consists of nothing but empty structs, lists and
// maps, no other version has a value.
func (k Kind) fromNothing(t *testing.T, annotation string, a, b Version) {
	t.Helper()
	random := k.random(t)
	if a.accepts(`{}`) {
		k.expectNothing(t, `{}`, annotation, a, b)
	}
	if a.accepts(`{}`) && len(b.Fixed) == 0 {
		b.expectSamef(t, visible(t, canonical(t, b.New()), annotation), visible(t, canonical(t, k.converted(t, `{}`, a, b)), annotation),
			"of an object of %s with nothing in it became something at %s", a.Name, b.Name)
	}
	for range shareOf(k.inputs) {
		if object := canonical(t, leafless(read(t, k.shown(t, random, a)))); a.accepts(object) {
			k.expectNothing(t, object, annotation, a, b)
		}
	}
}

// expectNothing expects of an object without leaves that all that there is at b are zero values that a always writes, and keys of maps.
func (k Kind) expectNothing(t *testing.T, object, annotation string, a, b Version) {
	t.Helper()
	known := map[string]bool{}
	know := func(value string) { known[value] = true }
	walk(read(t, canonical(t, parsed(t, object, a))), false, know)
	walk(read(t, object), true, know) // it has no leaves
	// A duration of zero is a number of zero at the other version.
	const none, noTime = "0", `"0s"`
	known[none], known[noTime] = known[none] || known[noTime], known[none] || known[noTime]
	made := parsed(t, k.expectConverted(t, object, a, b), b)
	expectKnown := func(path, value string) {
		if !known[value] {
			const remedy = "if a hook or functions set it on purpose, add fixed=TEXT to +conversion:strategy=augment, :older=augment or :with"
			t.Fatalf("%s: %s comes from nowhere\n%s\nmade of %s of %s\ngot     %s", path, value, remedy, cut(object), a.Name, cut(canonical(t, made)))
		}
	}
	values(reflect.ValueOf(made).Elem(), "", b.Fixed, expectKnown)
	if text, ok := stashed(read(t, canonical(t, made)), annotation); ok {
		entries(read(t, text), func(key string, data any) {
			if !k.isFixed(key) {
				walk(data, false, func(value string) { expectKnown(key, value) })
			}
		})
	}
}

func (k Kind) isFixed(key string) bool {
	return slices.ContainsFunc(k.Versions, func(v Version) bool { return slices.Contains(v.Fixed, key) })
}

// entries visits all data in an annotation.
func entries(node whole, visit func(key string, data any)) {
	bag, _ := node["e"].(whole)
	for key, entry := range bag {
		if content, ok := entry.(whole); ok {
			visit(key, content["d"])
		}
	}
	children, _ := node["c"].(whole)
	for _, child := range children {
		if below, ok := child.(whole); ok {
			entries(below, visit)
		}
	}
}

// walk visits everything in an object that is neither an object nor a list, each as JSON, and the names in all objects if these are wanted.
func walk(value any, withNames bool, visit func(value string)) {
	switch value := value.(type) {
	case whole:
		for name, each := range value {
			if withNames {
				walk(name, false, visit)
			}
			walk(each, withNames, visit)
		}
		return
	case []any:
		for _, each := range value {
			walk(each, withNames, visit)
		}
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was JSON
	}
	visit(string(text))
}

// values visits the leaves of an object that are set, except for those of fixed fields. Zero values that are no pointers are no more than absent. Annotations
// say which fields were absent, for that is nothing either.
func values(value reflect.Value, path string, fixed []string, visit func(path, value string)) {
	switch {
	case isLeaf(value.Type()):
		if zero := reflect.Zero(value.Type()); !value.IsZero() && !looks(value, zero) {
			visitLeaf(path, value, visit)
		}
	case value.Kind() == reflect.Pointer && !value.IsNil() && isLeaf(value.Type().Elem()):
		visitLeaf(path, value, visit)
	default:
		for name, each := range parts(value) {
			if name != "Annotations" && !slices.Contains(fixed, value.Type().Name()+"."+name) {
				values(each, path+pathOf(value, name), fixed, visit)
			}
		}
	}
}

func looks(value, zero reflect.Value) bool {
	same, err := conversion.Equal(value.Interface(), zero.Interface())
	return same && err == nil
}

// visitLeaf visits what there is in a leaf: a type with its own JSON may write an object.
func visitLeaf(path string, value reflect.Value, visit func(path, value string)) {
	text, err := conversion.Canonical(value.Interface())
	if err != nil {
		panic(err) // it is part of an object that is JSON
	}
	walk(decoded(string(text)), false, func(value string) { visit(path, value) })
}
