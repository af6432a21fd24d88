/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// measured returns the sum of the data points of a counter of a hook.
func measured(t testing.TB, name, hookName string, with ...string) (sum int64) {
	t.Helper()
	var collected metricdata.ResourceMetrics
	if err := metrics.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			counter, ok := m.Data.(metricdata.Sum[int64])
			if !ok || m.Name != name {
				continue
			}
			for _, point := range counter.DataPoints {
				of, _ := point.Attributes.Value("hook")
				matches := of.AsString() == hookName
				for i := 0; i+1 < len(with); i += 2 {
					value, _ := point.Attributes.Value(attribute.Key(with[i]))
					matches = matches && value.AsString() == with[i+1]
				}
				if matches {
					sum += point.Value
				}
			}
		}
	}
	return sum
}

func expectMeasured(t testing.TB, want int64, name, hookName string, with ...string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s of hook %s %v is %d", name, hookName, with, want), func(context.Context) error {
		if got := measured(t, name, hookName, with...); got != want {
			return fmt.Errorf("it is %d", got)
		}
		return nil
	})
}

// queueLength returns the length of a queue of the processes that run.
func queueLength(ctx context.Context, t *testing.T, queue string) (n int64) {
	t.Helper()
	var collected metricdata.ResourceMetrics
	if err := metrics.Collect(ctx, &collected); err != nil {
		t.Fatal(err)
	}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			gauge, ok := m.Data.(metricdata.Gauge[int64])
			if !ok || m.Name != "hook.queue.length" {
				continue
			}
			for _, point := range gauge.DataPoints {
				if value, _ := point.Attributes.Value("queue"); value.AsString() == queue {
					n += point.Value
				}
			}
		}
	}
	return n
}
