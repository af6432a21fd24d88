/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import "math"

// Number is a number as API types have them.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Narrow is a number in a type with less room, and whether that is the same number. Of a whole number that does not fit
// it is the nearest that does; a float that is too large becomes infinite only if it was, for JSON has no infinity. To and
// From are both signed, both unsigned or both floats.
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

// nearest is the end of a type's range.
func nearest[To Number](lowest bool) To {
	var end To
	switch p := any(&end).(type) {
	case *int8:
		*p = choose[int8](lowest, math.MinInt8, math.MaxInt8)
	case *int16:
		*p = choose[int16](lowest, math.MinInt16, math.MaxInt16)
	case *int32:
		*p = choose[int32](lowest, math.MinInt32, math.MaxInt32)
	case *int64:
		*p = choose[int64](lowest, math.MinInt64, math.MaxInt64)
	case *uint8:
		*p = math.MaxUint8
	case *uint16:
		*p = math.MaxUint16
	case *uint32:
		*p = math.MaxUint32
	case *uint64:
		*p = math.MaxUint64
	}
	return end
}

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
