/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// hasOwnJSON reports whether a type writes its JSON itself.
func hasOwnJSON(value reflect.Value) bool {
	switch value.Addr().Interface().(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return true
	default:
		return false
	}
}

// makeReadable replaces a value whose JSON cannot be read, as of a URL with random fields, by one that is read from a likely text. So it
// does with a zero value where nothing may be left out. If the type can read none of the texts, the value stays: the test that meets it
// reports the type.
func (f *filler) makeReadable(value reflect.Value) {
	if isReadable(value) && (!f.whole || !value.IsZero()) {
		return
	}
	for _, text := range []string{
		fmt.Sprintf(`"https://%s.example.com/%s"`, word(f.random), word(f.random)),
		fmt.Sprintf("%q", word(f.random)),
		`"192.0.2.1"`, `"192.0.2.0/24"`, `"2026-01-01T00:00:00Z"`, `"1h0m0s"`, `"1"`, `1`, `true`, `{}`, `[]`,
	} {
		candidate := reflect.New(value.Type())
		if json.Unmarshal([]byte(text), candidate.Interface()) == nil && isReadable(candidate.Elem()) && !candidate.Elem().IsZero() {
			value.Set(candidate.Elem())
			return
		}
	}
}

// holdsJSON reports whether a struct keeps JSON as it is, as apiextensionsv1.JSON does.
func holdsJSON(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	raw, ok := t.FieldByName("Raw")
	return ok && raw.Type == reflect.TypeFor[[]byte]() && hasOwnJSON(reflect.New(t).Elem())
}

// isReadable reports whether a value's JSON is that of the value that is read from it.
func isReadable(value reflect.Value) bool {
	text, err := json.Marshal(value.Addr().Interface())
	if err != nil {
		return false
	}
	again := reflect.New(value.Type())
	if json.Unmarshal(text, again.Interface()) != nil {
		return false
	}
	same, err := json.Marshal(again.Interface())
	return err == nil && bytes.Equal(text, same)
}

// forgetNull has each json.RawMessage be nil that holds null, and some lists and maps be empty that are null. To conversions both mean that there is
// nothing.
func forgetNull(value reflect.Value, neverNull []string) {
	if message, ok := reflect.TypeAssert[json.RawMessage](value); ok {
		if value.CanSet() && string(message) == "null" {
			value.SetZero()
		}
		return
	}
	if value.Kind() != reflect.Map {
		for name, each := range parts(value) {
			if each.IsZero() && slices.Contains(neverNull, value.Type().Name()+"."+name) {
				each.Set(empty(each.Type()))
			}
			forgetNull(each, neverNull)
		}
		return
	}
	for key, each := range value.Seq2() {
		element := reflect.New(each.Type()).Elem()
		element.Set(each)
		forgetNull(element, neverNull)
		value.SetMapIndex(key, element)
	}
}
