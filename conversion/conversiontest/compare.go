/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion"
)

// canonical is an object as canonical JSON.
func canonical(t *testing.T, object any) string {
	t.Helper()
	text, err := conversion.Canonical(object)
	if err != nil {
		t.Fatalf("%T is no JSON: %v", object, err)
	}
	return string(text)
}

// expectSamef fails the test if two canonical texts differ. The message says what the second should have been.
func expectSamef(t *testing.T, want, got, format string, args ...any) {
	t.Helper()
	if want == got {
		return
	}
	t.Errorf(format, args...)
	t.Fatalf("(-want +got): %s\nwant %s\ngot  %s", cmp.Diff(want, got), want, got)
}

// expectEqualf fails the test if two objects differ as canonical JSON. Objects that are equal in memory are not marshaled.
func expectEqualf(t *testing.T, want, got any, format string, args ...any) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		expectSamef(t, canonical(t, want), canonical(t, got), format, args...)
	}
}

const (
	changesSource = "the conversion changed its source"
	sharesMemory  = "changing the %T that was made of it changes the %T: they share memory"
)

// overwrite changes everything that can be reached from a value. What shares memory with it is no longer what it was.
func overwrite(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			overwrite(value.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range value.Len() {
			overwrite(value.Index(i))
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			element := value.MapIndex(key)
			if isContainer(element.Kind()) || element.Kind() == reflect.Struct {
				// A copy of the value points to the same memory as the map's value.
				reachable := reflect.New(element.Type()).Elem()
				reachable.Set(element)
				overwrite(reachable)
			}
			value.SetMapIndex(key, reflect.Value{})
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				overwrite(value.Field(i))
			}
		}
	default:
		spoilPlain(value)
	}
}

func spoilPlain(value reflect.Value) {
	if !value.CanSet() {
		return
	}
	switch {
	case value.Kind() == reflect.String:
		value.SetString(value.String() + "!")
	case value.Kind() == reflect.Bool:
		value.SetBool(!value.Bool())
	case value.CanInt():
		value.SetInt(value.Int() + 1)
	case value.CanUint():
		value.SetUint(value.Uint() + 1)
	case value.CanFloat():
		value.SetFloat(value.Float() + 1)
	}
}
