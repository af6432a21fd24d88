/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Whoever waits for the first drop or panic has to see the 0 before it.
func TestMetricsAreThereBeforeAnythingIsCounted(t *testing.T) {
	var all metricdata.ResourceMetrics
	if err := meters.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			sum, ok := metric.Data.(metricdata.Sum[int64])
			if !ok || !sum.IsMonotonic {
				t.Errorf("%s is no counter", metric.Name)
			}
			got[metric.Name] = len(sum.DataPoints)
		}
	}
	want := map[string]int{"conversion.bag.dropped": 2, "conversion.bag.truncated": 1, "conversion.bag.large": 1, "conversion.panics": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}
