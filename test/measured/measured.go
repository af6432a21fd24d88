/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package measured reads the metrics of a test process for the suites of libraries, which run in it.
package measured

import (
	"context"
	"maps"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Sum returns the sum of a metric's data points that have these attributes among others, and the names of all its attributes. For a histogram it is
// the number of measurements.
func Sum(t testing.TB, reader sdkmetric.Reader, name string, with ...attribute.KeyValue) (sum int64, keys []string) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			if metric.Name != name {
				continue
			}
			for set, n := range points(t, metric) {
				for _, kv := range set.ToSlice() {
					found[string(kv.Key)] = true
				}
				if has(set, with) {
					sum += n
				}
			}
		}
	}
	return sum, slices.Sorted(maps.Keys(found))
}

// Earlier returns a reader of the metrics as they are now. Those of a process add up, also when its tests run several times.
func Earlier(t testing.TB, reader sdkmetric.Reader) sdkmetric.Reader {
	t.Helper()
	e := &earlier{}
	if err := reader.Collect(context.Background(), &e.metrics); err != nil {
		t.Fatal(err)
	}
	return e
}

type earlier struct {
	sdkmetric.Reader

	metrics metricdata.ResourceMetrics
}

// Collect returns the earlier metrics.
func (e *earlier) Collect(_ context.Context, all *metricdata.ResourceMetrics) error {
	*all = e.metrics
	return nil
}

func has(set attribute.Set, with []attribute.KeyValue) bool {
	return !slices.ContainsFunc(with, func(kv attribute.KeyValue) bool {
		value, ok := set.Value(kv.Key)
		return !ok || value != kv.Value
	})
}

// points returns the data points of a metric.
func points(t testing.TB, metric metricdata.Metrics) map[attribute.Set]int64 {
	t.Helper()
	all := map[attribute.Set]int64{}
	switch data := metric.Data.(type) {
	case metricdata.Sum[int64]:
		for _, point := range data.DataPoints {
			all[point.Attributes] += point.Value
		}
	case metricdata.Gauge[int64]:
		for _, point := range data.DataPoints {
			all[point.Attributes] += point.Value
		}
	case metricdata.Histogram[int64]:
		for _, point := range data.DataPoints {
			all[point.Attributes] += int64(point.Count)
		}
	case metricdata.Histogram[float64]:
		for _, point := range data.DataPoints {
			all[point.Attributes] += int64(point.Count)
		}
	default:
		t.Fatalf("%s has data of type %T", metric.Name, data)
	}
	return all
}
