/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	metering "github.com/mallard-dev/mallard/test/measured"
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
func measured(t *testing.T, name string, with attributes) (sum float64) {
	t.Helper()
	for _, point := range metering.Points(t, reader, name, with) {
		sum += point.Value
	}
	return sum
}

// sumOf is the sum of what a histogram recorded with these attributes.
func sumOf(t *testing.T, name string, with attributes) (sum float64) {
	t.Helper()
	for _, point := range metering.Points(t, reader, name, with) {
		sum += point.Sum
	}
	return sum
}

// known reports whether a metric has a data point with these attributes.
func known(t *testing.T, name string, with attributes) bool {
	t.Helper()
	return len(metering.Points(t, reader, name, with)) > 0
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
