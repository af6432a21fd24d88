/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

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

// Sum returns the sum of a metric's data points that have these attributes among others, and the names of all its attributes. Of a histogram it
// is the number of measurements.
func Sum(t testing.TB, reader sdkmetric.Reader, name string, with ...attribute.KeyValue) (sum int64, keys []string) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	add := func(set attribute.Set, n int64) {
		for _, kv := range set.ToSlice() {
			found[string(kv.Key)] = true
		}
		for _, kv := range with {
			if value, ok := set.Value(kv.Key); !ok || value != kv.Value {
				return
			}
		}
		sum += n
	}
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			if metric.Name != name {
				continue
			}
			switch data := metric.Data.(type) {
			case metricdata.Sum[int64]:
				for _, point := range data.DataPoints {
					add(point.Attributes, point.Value)
				}
			case metricdata.Gauge[int64]:
				for _, point := range data.DataPoints {
					add(point.Attributes, point.Value)
				}
			case metricdata.Histogram[int64]:
				for _, point := range data.DataPoints {
					add(point.Attributes, int64(point.Count))
				}
			case metricdata.Histogram[float64]:
				for _, point := range data.DataPoints {
					add(point.Attributes, int64(point.Count))
				}
			default:
				t.Fatalf("%s has data of type %T", name, data)
			}
		}
	}
	return sum, slices.Sorted(maps.Keys(found))
}
