/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"cmp"
	"math"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Number is a number as API types have them.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Narrow converts a number to a smaller type, and reports whether the result is the same number. A whole number out of range becomes the
// nearest one in range. A float becomes infinite only if it was infinite, because JSON has no infinity. To and From are both signed, both
// unsigned or both floats.
func Narrow[To, From Number](from From) (to To, exact bool) {
	to = To(from)
	if _, isFloat := any(to).(float32); isFloat {
		return narrowFloat[To](float64(from))
	}
	if From(to) == from {
		return to, true
	}
	return nearest[To](from < 0), false
}

func narrowFloat[To Number](from float64) (to To, exact bool) {
	to = To(from)
	if math.IsInf(float64(to), 0) && !math.IsInf(from, 0) {
		return To(math.Copysign(math.MaxFloat32, from)), false
	}
	return to, float64(to) == from
}

// nearest is the end of the range of a type of whole numbers.
func nearest[To Number](lowest bool) To {
	unused := 64 - reflect.TypeFor[To]().Bits()
	var zero To
	switch isUnsigned := zero-1 > zero; {
	case isUnsigned:
		return To(uint64(math.MaxUint64) >> unused)
	case lowest:
		return To(int64(math.MinInt64) >> unused)
	default:
		return To(int64(math.MaxInt64) >> unused)
	}
}

// Integer is a whole number as API types have them.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// ToDuration returns a number of units as a duration, and whether FromDuration leads back to the number. For a number that is too large it returns
// the longest duration.
func ToDuration[N Integer](number N, unit time.Duration) (duration metav1.Duration, exact bool) {
	// A number beyond an int64 is longer than any duration, whatever the unit is.
	count := int64(math.MaxInt64)
	if number <= 0 || uint64(number) <= math.MaxInt64 {
		count = int64(number)
	}
	length := time.Duration(count) * unit
	if length/unit != time.Duration(count) {
		length = math.MaxInt64 * time.Duration(cmp.Compare(count, 0))
	}
	duration = metav1.Duration{Duration: length}
	back, _ := FromDuration[N](duration, unit)
	return duration, back == number
}

// FromDuration returns a duration as a number of units, and whether ToDuration leads back to the duration. A part of a unit counts as a
// whole unit, so that the number is zero only if the duration is. For a duration out of range it returns the nearest number.
func FromDuration[N Integer](duration metav1.Duration, unit time.Duration) (number N, exact bool) {
	rest := duration.Duration % unit
	count := int64(duration.Duration/unit) + int64(cmp.Compare(rest, 0))
	var zero N
	switch isUnsigned := zero-1 > zero; {
	case isUnsigned && count < 0:
		return 0, false
	case isUnsigned:
		number, exact = Narrow[N](uint64(count)) //nolint:gosec // it is not negative
	default:
		number, exact = Narrow[N](count)
	}
	return number, exact && rest == 0
}
