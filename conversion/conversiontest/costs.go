/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The bounds of a conversion for each step between versions: its allocations, and its time relative to marshaling and unmarshaling the object, which
// the webhook also does.
const (
	maxAllocations = 200
	maxTimes       = 2
	// measured is the number of objects of a version that are converted, and sameObjects the seed that they are made from, so that the costs of two
	// runs can be compared.
	measured    = 64
	sameObjects = 1
	// warm is from how many rounds on the time means something.
	warm = 100
)

// way is from one version to another, with objects to take it.
type way struct {
	name    string
	hops    int
	objects []metav1.Object
	by      Converter
	to      Version
}

// ways are all ways of a kind whose versions are in order.
func (k Kind) ways(t testing.TB) []way {
	t.Helper()
	var all []way
	for i, from := range k.Versions {
		random := newFiller(rand.NewSource(sameObjects), k.Functions)
		objects := make([]metav1.Object, measured)
		for n := range objects {
			objects[n] = from.New()
			random.fillValid(t, objects[n])
		}
		for j, to := range k.Versions {
			if hops := max(i-j, j-i); hops > 0 {
				all = append(all, way{from.Name + " " + to.Name, hops, objects, k.Converters[0], to})
			}
		}
	}
	return all
}

func (w way) convert(ctx context.Context, n int) error {
	if err := w.by(ctx, w.objects[n%measured], w.to.New()); err != nil {
		return fmt.Errorf("converting: %w", err)
	}
	return nil
}

// TestAllocations expects a conversion to make no more than 200 allocations an object and hop, on average over random objects.
// It is for kinds of the usual size, and no part of Test.
func (k Kind) TestAllocations(t *testing.T) {
	t.Helper()
	for _, way := range k.ways(t) {
		n := 0
		got := testing.AllocsPerRun(measured, func() {
			if err := way.convert(t.Context(), n); err != nil {
				t.Fatal(err)
			}
			n++
		})
		if limit := float64(maxAllocations * way.hops); got > limit {
			t.Errorf("%s: %v allocations, want at most %v", way.name, got, limit)
		}
	}
}

// Benchmark reports the time of a step relative to that of JSON, and fails from twice that time on. Both take turns,
// so that a busy machine slows down both.
func (k Kind) Benchmark(b *testing.B) {
	for _, way := range k.ways(b) {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			var marshaling time.Duration
			for n := 0; b.Loop(); n++ {
				converted := way.convert(b.Context(), n)
				b.StopTimer()
				begin := time.Now()
				_, marshaled := reread(way.objects[n%measured])
				marshaling += time.Since(begin)
				if err := errors.Join(converted, marshaled); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			times := b.Elapsed().Seconds() / marshaling.Seconds() / float64(way.hops)
			b.ReportMetric(times, "times-json/hop")
			if b.N > warm && times > maxTimes {
				b.Errorf("a hop takes %.1f times as long as JSON, want at most %d", times, maxTimes)
			}
		})
	}
}
