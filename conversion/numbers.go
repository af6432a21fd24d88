/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"math"
	"reflect"
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
	switch any(to).(type) {
	case float32:
		return narrowFloat[To](float64(from))
	default:
		if From(to) == from {
			return to, true
		}
		return nearest[To](from < 0), false
	}
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
		most := uint64(math.MaxUint64) >> unused
		return To(most)
	case lowest:
		least := int64(math.MinInt64) >> unused
		return To(least)
	default:
		most := int64(math.MaxInt64) >> unused
		return To(most)
	}
}
