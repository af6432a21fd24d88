/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"reflect"
)

// A storage type has a pointer for every field whose API type is a plain value, so that absent and zero differ. These
// functions go from the one to the other. Optional fields are those with omitempty or omitzero, which leave the zero
// value out; required fields are always written.

// OptionalPointer is an optional field of an API object, for its storage type: nil if it is zero, unless zero was meant.
func OptionalPointer[T comparable](from Reader, jsonName string, value T) *T {
	if from.WasZero(jsonName) {
		return new(value)
	}
	return NonZero(value)
}

// OptionalValue is OptionalPointer's counterpart.
func OptionalValue[T comparable](to Writer, jsonName string, pointer *T) T {
	value := Value(pointer)
	if pointer != nil && NonZero(value) == nil {
		to.MarkZero(jsonName)
	}
	return value
}

// RequiredPointer is a required field of an API object, for its storage type: never nil, unless it is zero and was absent.
func RequiredPointer[T comparable](from Reader, jsonName string, value T) *T {
	if from.WasAbsent(jsonName) {
		return NonZero(value)
	}
	return new(value)
}

// RequiredValue is RequiredPointer's counterpart.
func RequiredValue[T comparable](to Writer, jsonName string, pointer *T) T {
	if pointer == nil {
		to.MarkAbsent(jsonName)
	}
	return Value(pointer)
}

// Pointer is a copy of a pointer to a plain value, which shares nothing with it.
func Pointer[T any](pointer *T) *T {
	if pointer == nil {
		return nil
	}
	return new(*pointer)
}

// NonZero is a pointer to a value, or nil for the zero value.
func NonZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return new(value)
}

// Value is the value that a pointer points to, or the zero value for nil.
func Value[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}

// IsZero reports whether a struct has nothing in it, or null as its JSON. As a value in an API type it stands for an absent one then.
func IsZero[T any](value *T) bool { return isZero(reflect.ValueOf(value).Elem()) }

func isZero(value reflect.Value) bool {
	switch {
	case value.Type() == reflect.TypeFor[json.RawMessage]():
		return Raw(value.Bytes()) == nil
	case value.Kind() != reflect.Struct:
		return value.IsZero()
	}
	for _, field := range value.Fields() {
		if !isZero(field) {
			return false
		}
	}
	return true
}

// IsNull reports whether the JSON of a struct is null, or the type rejects the value.
func IsNull[T any](value *T) bool {
	same, err := Equal(value, nil)
	return same || err != nil
}

// LooksZero reports whether JSON shows a struct as one with nothing in it, which some types write in a way that does not read as
// nothing again.
func LooksZero[T any](value *T) bool {
	var zero T
	same, err := Equal(value, &zero)
	return same && err == nil
}
