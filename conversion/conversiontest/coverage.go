/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// coverage notes which leaves of a kind's objects held something both before and after they went to another version and
// back. A function for randfill that leaves one out would otherwise hide that it is lost.
type coverage struct {
	dropped []string
	// held is by the path of a leaf, such as spec.ports[].name, and has all of them as keys.
	held map[string]bool
	// lost are paths of leaves that held something before, and nothing after it.
	lost map[string]bool
}

func newCoverage(object any, dropped []string) *coverage {
	c := &coverage{dropped: dropped, held: make(map[string]bool), lost: make(map[string]bool)}
	c.leaves(reflect.TypeOf(object).Elem(), "", nil)
	return c
}

// leaves finds all leaves that a type leads to. A type within itself has the same ones again.
func (c *coverage) leaves(t reflect.Type, path string, above []reflect.Type) {
	if isLeaf(t) || slices.Contains(above, t) {
		c.held[path] = false
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		c.leaves(t.Elem(), path, above)
	case reflect.Slice, reflect.Array, reflect.Map:
		c.leaves(t.Elem(), path+"[]", above)
	default:
		for field := range t.Fields() {
			if c.counts(t, field) {
				c.leaves(field.Type, path+fieldPath(field), append(slices.Clip(above), t))
			}
		}
	}
}

// note adds the leaves that hold something in an object to those that it returns.
func (c *coverage) note(value reflect.Value, path string, held map[string]bool) {
	t := value.Type()
	if _, known := c.held[path]; known {
		held[path] = held[path] || !value.IsZero()
	}
	if isLeaf(t) {
		return
	}
	for name, each := range parts(value) {
		c.note(each, path+pathOf(value, name), held)
	}
}

// parts yields what a value contains: what a pointer points to, the elements of a list or map, and the exported fields of a struct with their names.
func parts(value reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		switch value.Kind() { //nolint:exhaustive // the others contain nothing
		case reflect.Pointer, reflect.Interface:
			if !value.IsNil() {
				yield("", value.Elem())
			}
		case reflect.Slice, reflect.Array:
			for i := range value.Len() {
				if !yield("", value.Index(i)) {
					return
				}
			}
		case reflect.Map:
			for _, each := range value.Seq2() {
				if !yield("", each) {
					return
				}
			}
		case reflect.Struct:
			for field, each := range value.Fields() {
				if field.IsExported() && !yield(field.Name, each) {
					return
				}
			}
		}
	}
}

// pathOf returns the text that the path of a part has after that of the value.
func pathOf(value reflect.Value, name string) string {
	switch value.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return "[]"
	case reflect.Struct:
		field, _ := value.Type().FieldByName(name)
		return fieldPath(field)
	default:
		return ""
	}
}

func (c *coverage) trip(before, after any) {
	first, second := make(map[string]bool), make(map[string]bool)
	c.note(reflect.ValueOf(before).Elem(), "", first)
	c.note(reflect.ValueOf(after).Elem(), "", second)
	for path := range first {
		c.held[path] = c.held[path] || first[path] && second[path]
		c.lost[path] = c.lost[path] || first[path] && !second[path]
	}
}

// counts reports whether a field of a struct should hold a value. Which version and kind an object is of does not count, nor does what JSON
// does not have.
func (c *coverage) counts(t reflect.Type, field reflect.StructField) bool {
	isInJSON := field.IsExported() && field.Tag.Get("json") != "-"
	return isInJSON && field.Type != reflect.TypeFor[metav1.TypeMeta]() && !slices.Contains(c.dropped, t.Name()+"."+field.Name)
}

// fieldPath returns the part of a path for a field. One that is inlined adds nothing.
func fieldPath(field reflect.StructField) string {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case name != "":
		return "." + name
	case field.Anonymous || slices.Contains(strings.Split(options, ","), "inline"):
		return ""
	default:
		return "." + field.Name
	}
}

// isLeaf reports whether a type has nothing below it, or brings its own JSON.
func isLeaf(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	switch t.Kind() {
	case reflect.Pointer:
		return t.Implements(marshaler) && !t.Elem().Implements(marshaler) && isLeaf(t.Elem())
	case reflect.Slice, reflect.Map:
		return t.Implements(marshaler)
	case reflect.Array:
		return false
	case reflect.Struct:
		return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
	default:
		return true
	}
}

// never are the leaves that never held anything, sorted.
func (c *coverage) never() []string {
	var paths []string
	for _, path := range slices.Sorted(maps.Keys(c.held)) {
		if !c.held[path] {
			paths = append(paths, strings.TrimPrefix(path, "."))
		}
	}
	return paths
}

// covered fails the test if a leaf that is not dropped never holds something that is converted to b and back. Its objects hold as much as fits.
func (k Kind) covered(t *testing.T, a, b Version) {
	t.Helper()
	random := k.random(t).withEverything()
	seen := newCoverage(a.New(), append(slices.Clone(a.Dropped), b.Dropped...))
	// Everything that a kind can hold at once may be more than fits into an annotation. Parts of it fit.
	const objects, whole = 500, 2
	for i := 0; i < objects && seen.never() != nil; i++ {
		if i == whole {
			random.withParts()
		}
		object := random.object(t, a)
		shown := marshaled(t, k.converted(t, marshaled(t, object), a, b))
		seen.trip(object, k.converted(t, shown, b, a))
	}
	if paths := seen.never(); paths != nil {
		t.Error(seen.explained(paths))
	}
}

// explained is the message about leaves that never hold anything. It names first those that are lost, and as many as can be read.
func (c *coverage) explained(paths []string) string {
	lost := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !c.lost["."+path] })
	return cut(fmt.Sprintf("lost on the way: %v\nnot shown to survive, since they never hold anything: %v", lost, paths))
}
