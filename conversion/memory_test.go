/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"reflect"
	"testing"
)

// deepCopy copies everything that can be reached. What only has unexported fields, such as times, cannot be changed
// and is shared.
func deepCopy[T any](in T) T {
	return copied(reflect.ValueOf(&in).Elem()).Interface().(T)
}

func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(copied(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(copied(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for key, value := range v.Seq2() {
				out.SetMapIndex(key, copied(value))
			}
		}
	case reflect.Struct:
		out.Set(v)
		for i := range v.NumField() {
			if out.Field(i).CanSet() {
				out.Field(i).Set(copied(v.Field(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

// scramble changes everything that can be reached through pointers, slices and maps, in place.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scramble(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			changed := reflect.New(value.Type()).Elem()
			changed.Set(value)
			scramble(changed)
			v.SetMapIndex(key, changed)
		}
		if !v.IsNil() {
			v.SetMapIndex(reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			scramble(field)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(v.String() + "~")
		}
	case reflect.Bool:
		if v.CanSet() {
			v.SetBool(!v.Bool())
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.CanSet() {
			v.SetInt(v.Int() ^ 1)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.CanSet() {
			v.SetUint(v.Uint() ^ 1)
		}
	default:
	}
}

// expectOwnMemory converts, changes everything about the destination, and checks that the source is what it was all along.
func expectOwnMemory[S any](t testing.TB, source *S, destination any, convert func() error) {
	t.Helper()
	before := deepCopy(source)
	if err := convert(); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(source, before) {
		t.Errorf("the source was changed:\nbefore %s\nafter  %s", jsonOf(t, before), jsonOf(t, source))
	}
	scramble(reflect.ValueOf(destination))
	if !reflect.DeepEqual(source, before) {
		t.Errorf("%T shares memory with %T:\nbefore %s\nafter  %s", source, destination, jsonOf(t, before), jsonOf(t, source))
	}
}
