/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/mallard-dev/mallard/internal/testrand"
)

// coverage notes which fields of an API package's structs ever held something. A function for randfill that leaves one out
// would otherwise hide that it is lost.
type coverage struct {
	pkg string
	// held is by type and field, and has all of them as keys.
	held map[string]bool
	// visited are the types whose fields are known.
	visited map[reflect.Type]bool
}

func newCoverage(object any) *coverage {
	root := reflect.TypeOf(object).Elem()
	c := &coverage{pkg: root.PkgPath(), held: make(map[string]bool), visited: make(map[reflect.Type]bool)}
	c.fields(root)
	return c
}

// fields finds all fields of the package's structs that a type leads to. Which version and kind an object is of is none.
func (c *coverage) fields(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		c.fields(t.Elem())
	case reflect.Struct:
		if t.PkgPath() != c.pkg || c.visited[t] {
			return
		}
		c.visited[t] = true
		for field := range t.Fields() {
			if field.IsExported() && field.Name != "TypeMeta" {
				c.held[t.Name()+"."+field.Name] = false
				c.fields(field.Type)
			}
		}
	default:
	}
}

// note looks at an object.
func (c *coverage) note(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			c.note(value.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			c.note(value.Index(i))
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			c.note(value.MapIndex(key))
		}
	case reflect.Struct:
		if value.Type().PkgPath() != c.pkg {
			return
		}
		for field, held := range value.Fields() {
			if name := value.Type().Name() + "." + field.Name; !held.IsZero() && field.Name != "TypeMeta" {
				c.held[name] = true
				c.note(held)
			}
		}
	default:
	}
}

// never are the fields that never held anything, sorted.
func (c *coverage) never() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.held)) {
		if !c.held[name] {
			names = append(names, name)
		}
	}
	return names
}

// covered fails the test if a field never holds anything, in as many objects as are converted, and it is not one of those
// that are dropped.
func (k Kind) covered(t *testing.T, version Version) {
	t.Helper()
	random := newFiller(testrand.Source(t), k.Functions)
	seen := newCoverage(version.New())
	for range testrand.Inputs(t) {
		seen.note(reflect.ValueOf(random.object(t, version)))
	}
	for _, name := range seen.never() {
		if !slices.Contains(version.Dropped, name) {
			t.Errorf("%s of %s never holds anything: whether it survives is not shown", name, version.Name)
		}
	}
}
