/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
		length = math.MaxInt64 * time.Duration(sign(count))
	}
	duration = metav1.Duration{Duration: length}
	back, _ := FromDuration[N](duration, unit)
	return duration, back == number
}

// FromDuration returns a duration as a number of units, and whether ToDuration leads back to the duration. A part of a unit counts as a
// whole unit, so that the number is zero only if the duration is. For a duration out of range it returns the nearest number.
func FromDuration[N Integer](duration metav1.Duration, unit time.Duration) (number N, exact bool) {
	count := int64(duration.Duration / unit)
	rest := duration.Duration % unit
	if rest != 0 {
		count += sign(int64(rest))
	}
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

func sign(number int64) int64 {
	if number < 0 {
		return -1
	}
	return 1
}
