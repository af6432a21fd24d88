/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"fmt"
	"maps"
	"os"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// The providers of OpenTelemetry and the metrics of queues are set once per process, so tests find their own data by the names that they use.
var (
	reader = sdkmetric.NewManualReader()
	spans  = tracetest.NewSpanRecorder()
	// missing holds the reason for which the process under test is not ready.
	missing error
)

func TestMain(m *testing.M) {
	// As in a process: what is made before the providers are set begins to record when they are.
	Register()
	ObserveReadiness(func() error { return missing })
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	os.Exit(m.Run())
}

type attributes map[attribute.Key]string

// measured is the sum of a metric's data points that have these attributes, among others; of a histogram, how many were recorded.
func measured(t *testing.T, name string, with attributes) float64 {
	t.Helper()
	sum := 0.0
	for _, point := range points(t, name) {
		if point.has(with) {
			sum += point.value
		}
	}
	return sum
}

// sumOf is the sum of what a histogram recorded with these attributes.
func sumOf(t *testing.T, name string, with attributes) float64 {
	t.Helper()
	sum := 0.0
	for _, point := range points(t, name) {
		if point.has(with) {
			sum += point.sum
		}
	}
	return sum
}

// known reports whether a metric has a data point with these attributes.
func known(t *testing.T, name string, with attributes) bool {
	t.Helper()
	for _, point := range points(t, name) {
		if point.has(with) {
			return true
		}
	}
	return false
}

type point struct {
	attributes attributes
	value, sum float64
}

func (p point) has(with attributes) bool {
	merged := maps.Clone(p.attributes)
	maps.Copy(merged, with)
	return maps.Equal(merged, p.attributes)
}

func points(t *testing.T, name string) []point {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	var found []point
	add := func(set attribute.Set, value, sum float64) {
		p := point{attributes: attributes{}, value: value, sum: sum}
		for _, kv := range set.ToSlice() {
			p.attributes[kv.Key] = kv.Value.String()
		}
		found = append(found, p)
	}
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			if metric.Name != name {
				continue
			}
			switch data := metric.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value), 0)
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value), 0)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value, 0)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Count), p.Sum)
				}
			default:
				t.Fatalf("metric %s has data of type %T", name, data)
			}
		}
	}
	return found
}

// spansOf are the ended spans of a kind's reconciliations, oldest first.
func spansOf(kind string) []sdktrace.ReadOnlySpan {
	var found []sdktrace.ReadOnlySpan
	for _, span := range spans.Ended() {
		if span.Name() == "Reconcile "+kind {
			found = append(found, span)
		}
	}
	return found
}

func attributeOf(span sdktrace.ReadOnlySpan, key attribute.Key) attribute.Value {
	for _, kv := range span.Attributes() {
		if kv.Key == key {
			return kv.Value
		}
	}
	return attribute.Value{}
}

var kinds sync.Map

// kindOf is a kind for a test alone, and for one run of it: what was measured is never forgotten.
func kindOf(t *testing.T) string {
	t.Helper()
	kind, _ := kinds.LoadOrStore(t, fmt.Sprintf("%s-%p", t.Name(), t))
	return kind.(string)
}
