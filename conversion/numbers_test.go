/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"math"
	"testing"
)

func TestNarrow_OutOfRange_ReturnsTheNearest(t *testing.T) {
	expect := func(name string, got any, gotExact bool, want any, wantExact bool) {
		t.Helper()
		if got != want || gotExact != wantExact {
			t.Errorf("%s: %v, %v, want %v, %v", name, got, gotExact, want, wantExact)
		}
	}
	i8, exact := Narrow[int8](int16(-128))
	expect("-128", i8, exact, int8(-128), true)
	i8, exact = Narrow[int8](int16(-129))
	expect("-129", i8, exact, int8(-128), false)
	i16, exact := Narrow[int16](int32(40000))
	expect("40000", i16, exact, int16(math.MaxInt16), false)
	i32, exact := Narrow[int32](int64(1) << 32)
	expect("2^32", i32, exact, int32(math.MaxInt32), false)
	i32, exact = Narrow[int32](int64(math.MinInt64))
	expect("-2^63", i32, exact, int32(math.MinInt32), false)
	i64, exact := Narrow[int64](7)
	expect("7", i64, exact, int64(7), true)
	u8, exact := Narrow[uint8](uint16(256))
	expect("256", u8, exact, uint8(math.MaxUint8), false)
	u16, exact := Narrow[uint16](uint32(65535))
	expect("65535", u16, exact, uint16(65535), true)
	u16, exact = Narrow[uint16](uint32(65536))
	expect("65536", u16, exact, uint16(math.MaxUint16), false)
	u32, exact := Narrow[uint32](uint64(1) << 40)
	expect("2^40", u32, exact, uint32(math.MaxUint32), false)
	f32, exact := Narrow[float32](0.5)
	expect("0.5", f32, exact, float32(0.5), true)
	f32, exact = Narrow[float32](0.1)
	expect("0.1", f32, exact, float32(0.1), false)
	f32, exact = Narrow[float32](-1e300)
	expect("-1e300", f32, exact, float32(-math.MaxFloat32), false)
}
