/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
)

// filler makes random objects. In addition to what randfill does, values are zero and lists empty often enough to matter, and types that
// hold themselves end.
type filler struct {
	random *rand.Rand
	filler *randfill.Filler
	// functions are by the type of their first parameter.
	functions map[reflect.Type]reflect.Value
	// known are the types that randfill calls fillOne for.
	known map[reflect.Type]bool
	// within counts how many values of a type the present one is within.
	within map[reflect.Type]int
	depth  int
	// nested is the number of values of a type that may be within each other.
	nested int
	// whole leaves nothing out.
	whole bool
}

const (
	// mostElements is the maximum number of elements of a list or map.
	mostElements = 3
	// absent is the probability that a pointer, list or map is nil.
	absent = 1. / 3
	// oneInZero is the number of values of which one is zero or empty.
	oneInZero = 6
)

func newFiller(source rand.Source, functions []any) *filler {
	f := &filler{
		random:    rand.New(source), //nolint:gosec // a test that can be repeated
		filler:    randfill.New().RandSource(source).NilChance(absent).NumElements(0, mostElements).Funcs(common...).Funcs(functions...),
		functions: make(map[reflect.Type]reflect.Value),
		known:     make(map[reflect.Type]bool),
		within:    make(map[reflect.Type]int),
		nested:    3,
	}
	for _, list := range [][]any{common, functions} {
		for _, each := range list {
			function := reflect.ValueOf(each)
			f.functions[function.Type().In(0)] = function
		}
	}
	return f
}

// withEverything leaves nothing absent, zero or empty, except for fields that the functions leave out. As every value has all that its type holds,
// fewer of them are within each other, and lists and maps have one element.
func (f *filler) withEverything() *filler {
	f.whole, f.nested = true, 2
	f.filler.NilChance(0).NumElements(1, 1)
	return f
}

// withParts leaves out a quarter of the pointers, lists and maps.
func (f *filler) withParts() { f.filler.NilChance(0.25) }

func (f *filler) fill(object any) {
	f.learn(reflect.TypeOf(object).Elem())
	f.filler.Fill(object)
}

// fillValid fills what a pointer points to until it can be written as JSON and read again, and returns what was read.
func (f *filler) fillValid(t testing.TB, object any) (again any) {
	t.Helper()
	const attempts = 100
	var err error
	for range attempts {
		reflect.ValueOf(object).Elem().SetZero()
		f.fill(object)
		if again, err = reread(object); err == nil {
			return again
		}
	}
	t.Fatalf("none of %d random objects of %T is valid JSON: %s\nadd a func(*%s, randfill.Continue) to conversionFunctions", attempts, object,
		cut(err.Error()), culprit(reflect.ValueOf(object).Elem()))
	return nil
}

// culprit returns the type of the innermost part of an invalid value that is invalid.
func culprit(value reflect.Value) reflect.Type {
	for name, each := range parts(value) {
		part := reflect.New(each.Type())
		part.Elem().Set(each)
		if _, err := reread(part.Interface()); err != nil && pathOf(value, name) != ".-" {
			return culprit(part.Elem())
		}
	}
	return value.Type()
}

// reread writes what a pointer points to as JSON and reads it.
func reread(object any) (again any, err error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("marshaling: %w", err)
	}
	again = reflect.New(reflect.TypeOf(object).Elem()).Interface()
	if err := json.Unmarshal(text, again); err != nil {
		return nil, fmt.Errorf("%w: reading %s", err, text)
	}
	return again, nil
}

// learn has randfill call fillOne for all types that one leads to, except for those that fill themselves.
func (f *filler) learn(t reflect.Type) {
	if f.known[t] {
		return
	}
	f.known[t] = true
	switch t.Kind() { //nolint:exhaustive // the others hold no other type
	case reflect.Pointer, reflect.Slice, reflect.Array:
		f.learn(t.Elem())
	case reflect.Map:
		f.learn(t.Key())
		f.learn(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if field.IsExported() {
				f.learn(field.Type)
			}
		}
	}
	pointer := reflect.PointerTo(t)
	if f.functions[t].IsValid() && t.Kind() == reflect.Map ||
		pointer.Implements(reflect.TypeFor[randfill.SimpleSelfFiller]()) || pointer.Implements(reflect.TypeFor[randfill.NativeSelfFiller]()) {
		return
	}
	signature := reflect.FuncOf([]reflect.Type{pointer, reflect.TypeFor[randfill.Continue]()}, nil, false)
	f.filler.Funcs(reflect.MakeFunc(signature, func(arguments []reflect.Value) []reflect.Value {
		f.fillOne(arguments[0], arguments[1])
		return nil
	}).Interface())
}

// fillOne fills what a pointer points to. A function of its type has the last word.
func (f *filler) fillOne(pointer, c reflect.Value) {
	value := pointer.Elem()
	t := value.Type()
	f.within[t]++
	f.depth++
	defer func() {
		f.within[t]--
		f.depth--
	}()
	function := f.functions[pointer.Type()]
	switch {
	case f.leavesOut(t, function.IsValid()):
		value.Set(empty(t))
	case function.IsValid():
		function.Call([]reflect.Value{pointer, c})
	case t.Kind() == reflect.Interface || f.ends(t):
		// It stays nil.
	case holdsJSON(t):
		value.FieldByName("Raw").SetBytes(someJSON(f.random))
	default:
		if next, ok := reflect.TypeAssert[randfill.Continue](c); ok {
			next.FillNoCustom(pointer.Interface())
		}
		if hasOwnJSON(t) {
			f.makeReadable(value)
		}
	}
}

// ends reports whether a list, map or pointer of this type would lead to a type that is within itself too often.
func (f *filler) ends(t reflect.Type) bool {
	for isContainer(t.Kind()) {
		t = t.Elem()
		if t.Name() != "" {
			return f.within[t] >= f.nested
		}
	}
	return false
}

func isContainer(kind reflect.Kind) bool {
	return kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Array || kind == reflect.Map
}

// leavesOut decides whether a value of a type is zero or empty. Types with their own JSON may reject that, and so may structs that hold
// these. A function for such a type decides itself.
func (f *filler) leavesOut(t reflect.Type, hasFunction bool) bool {
	if f.whole || f.depth == 1 || t == reflect.TypeFor[metav1.ObjectMeta]() || f.random.Intn(oneInZero) != 0 {
		return false
	}
	switch zero := reflect.New(t); {
	case hasOwnJSON(t):
		return !hasFunction && isReadable(empty(t))
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Array:
		_, err := reread(zero.Interface())
		return err == nil
	default:
		return true
	}
}

// empty is a list or map without elements, and the zero value of other types.
func empty(t reflect.Type) reflect.Value {
	value := reflect.New(t).Elem()
	switch t.Kind() { //nolint:exhaustive // the others hold no other value
	case reflect.Slice:
		value.Set(reflect.MakeSlice(t, 0, 0))
	case reflect.Map:
		value.Set(reflect.MakeMap(t))
	}
	return value
}
