/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"fmt"
	"reflect"
)

// RoundTrip converts a value by a function, and returns whether the function of the other direction leads back to the same
// value. Neither function is called for nil, so that nothing becomes something.
func RoundTrip[From, To any](value From, there func(From) To, back func(To) From) (converted To, exact bool) {
	if isNil(&value) {
		return converted, true
	}
	converted = there(value)
	if isNil(&converted) {
		return converted, false
	}
	same, err := Equal(value, back(converted))
	return converted, same && err == nil
}

// RoundTripValue is RoundTrip for an element of a list or map, with functions that take and return pointers. Nothing becomes the zero value.
func RoundTripValue[From, To any](value From, there func(*From) *To, back func(*To) *From) (converted To, exact bool) {
	result, exact := RoundTrip(&value, there, back)
	if result != nil {
		converted = *result
	}
	return converted, exact
}

// With returns a function of one parameter for RoundTrip and TakeOriginal, from one that needs something else of the object too, such
// as its metadata.
func With[From, To, Other any](convert func(From, Other) To, other Other) func(From) To {
	return func(value From) To { return convert(value, other) }
}

// TakeOriginal takes the original of what is shown out of a bag, and returns whether there is one. The function back depends on the metadata
// of the object, which clients change: an original that is not shown any more is dropped.
func TakeOriginal[From, To any](bag *PropertyBag, key string, shown From, original *To, back func(To) From) bool {
	if bag.TakeDerived(key, shown, original) != Exact {
		return false
	}
	if isNil(&shown) || isNil(original) {
		return true
	}
	same, err := Equal(shown, back(*original))
	return same && err == nil
}

// DeriveWith is Derive for functions that depend on something else of the object too, such as its metadata. An original that the function
// back does not lead to what src shows any more, because a client has changed a label, is dropped.
func DeriveWith[From, To, Other any](
	bag *PropertyBag, take, put string, src From, dst *To, there func(From, Other) To, back func(To, Other) From, other Other,
) error {
	return Derive(bag, take, put, src, dst, With(there, other), With(back, other))
}

// Derive converts a field in a hook by functions that may lose something. Both fields are of storage types, so that they are nil
// if they are absent. For example, both methods of the hook of a field that is in days in v1beta1 and a duration in v1:
//
//	func (in *BackupSpec) AssignPropertiesTo(dst *v1storage.BackupSpec) error {
//		return conversion.Derive(&dst.PropertyBag, bagV1Retention, bagV1beta1Retention, in.Retention, &dst.Retention, toDuration, toDays)
//	}
//
//	func (in *BackupSpec) AssignPropertiesFrom(src *v1storage.BackupSpec) error {
//		return conversion.Derive(&in.PropertyBag, bagV1beta1Retention, bagV1Retention, src.Retention, &in.Retention, toDays, toDuration)
//	}
//
// The bag is that of the destination. If an earlier conversion has kept the original of what src shows, Derive takes it. That
// original has the key of the destination's field, take. Otherwise it calls the function there. If the function back does not
// lead to src again, Derive keeps src with the key of the source's field, put, until dst is changed.
func Derive[From, To any](bag *PropertyBag, take, put string, src From, dst *To, there func(From) To, back func(To) From) error {
	if TakeOriginal(bag, take, src, dst, back) {
		return nil
	}
	converted, exact := RoundTrip(src, there, back)
	*dst = converted
	if exact {
		return nil
	}
	if err := bag.PutDerived(put, src, converted); err != nil {
		return fmt.Errorf("keeping the original: %w", err)
	}
	return nil
}

func isNil[T any](value *T) bool {
	switch at := reflect.ValueOf(value).Elem(); at.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return at.IsNil()
	default:
		return false
	}
}
