/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"fmt"
	"math"
	"math/rand"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

func TestDuration_Units_Convert(t *testing.T) {
	for name, test := range map[string]struct {
		duration, unit time.Duration
		want           int32
		exact          bool
	}{
		"none":                    {0, time.Second, 0, true},
		"a whole number":          {90 * time.Second, time.Second, 90, true},
		"a part is not nothing":   {time.Nanosecond, time.Second, 1, false},
		"a part of a negative":    {-time.Millisecond, time.Second, -1, false},
		"rounded up":              {61 * time.Minute, time.Hour, 2, false},
		"more than fit":           {1 << 62, time.Nanosecond, math.MaxInt32, false},
		"less than fit":           {-1 << 62, time.Nanosecond, math.MinInt32, false},
		"the shortest there is":   {math.MinInt64, 24 * time.Hour, -106752, false},
		"the most that still fit": {math.MaxInt32 * time.Second, time.Second, math.MaxInt32, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got, exact := conversion.FromDuration[int32](metav1.Duration{Duration: test.duration}, test.unit); got != test.want || exact != test.exact {
				t.Errorf("%v is %v units, exact %v, want %v, exact %v", test.duration, got, exact, test.want, test.exact)
			}
		})
	}
	if got, exact := conversion.FromDuration[uint8](metav1.Duration{Duration: -time.Hour}, time.Hour); got != 0 || exact {
		t.Errorf("a negative duration is %v without a sign, exact %v", got, exact)
	}
	if got, exact := conversion.FromDuration[uint8](metav1.Duration{Duration: 300 * time.Hour}, time.Hour); got != math.MaxUint8 || exact {
		t.Errorf("300 units are %v in a byte, exact %v", got, exact)
	}
}

func TestDuration_NumbersOutOfRange_AreInexact(t *testing.T) {
	expect := func(got metav1.Duration, exact bool, want time.Duration) {
		t.Helper()
		if got.Duration != want || exact {
			t.Errorf("the duration is %v, exact %v, want %v", got.Duration, exact, want)
		}
	}
	got, exact := conversion.ToDuration(int64(math.MaxInt64), time.Hour)
	expect(got, exact, math.MaxInt64)
	got, exact = conversion.ToDuration(int64(math.MinInt64), time.Hour)
	expect(got, exact, -math.MaxInt64)
	got, exact = conversion.ToDuration(uint64(math.MaxUint64), time.Nanosecond)
	expect(got, exact, math.MaxInt64)
}

// Exactly those conversions that are reported as exact lead back to their value, for numbers and durations of all sizes.
func TestDuration_ReportedAsExact_ConvertsBack(t *testing.T) {
	random := rand.New(testrand.Source(t))
	units := []time.Duration{time.Nanosecond, time.Millisecond, time.Second, time.Hour, 24 * time.Hour}
	for range testrand.Inputs(t) {
		unit, value := units[random.Intn(len(units))], int64(random.Uint64())>>random.Intn(64)
		roundTrip(t, int32(value), unit)
		roundTrip(t, value, unit)
		roundTrip(t, uint64(value), unit)
		roundTrip(t, int8(value), unit)

		duration := metav1.Duration{Duration: time.Duration(value)}
		number, exact := conversion.FromDuration[int32](duration, unit)
		if back, _ := conversion.ToDuration(number, unit); (back == duration) != exact {
			t.Errorf("%v is %d of %v and back %v, exact %v", duration.Duration, number, unit, back.Duration, exact)
		}
	}
}

func roundTrip[N conversion.Integer](t *testing.T, number N, unit time.Duration) {
	t.Helper()
	duration, exact := conversion.ToDuration(number, unit)
	if back, _ := conversion.FromDuration[N](duration, unit); (back == number) != exact {
		t.Error(fmt.Sprintf("%T %d", number, number), "of", unit, "is", duration.Duration, "and back", back, "exact", exact)
	}
}
