/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package measured reads the metrics, spans and logs of a test process for the suites of libraries, which run in it, and the CPU time and the memory of
// any process.
package measured

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// Spans starts to record the spans of the process.
func Spans() *tracetest.SpanRecorder {
	spans := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	return spans
}

// Exported returns the spans and the metrics so far as text.
func Exported(spans *tracetest.SpanRecorder, reader sdkmetric.Reader) string {
	var all strings.Builder
	for _, span := range spans.Ended() {
		fmt.Fprintln(&all, span.Name(), span.Attributes(), span.Status(), span.Events())
	}
	var metrics metricdata.ResourceMetrics
	err := reader.Collect(context.Background(), &metrics)
	fmt.Fprintln(&all, metrics, err)
	return all.String()
}

// Log returns entries of a log as a process writes them, in JSON.
func Log(entries ...observer.LoggedEntry) string {
	var all strings.Builder
	for _, entry := range entries {
		fmt.Fprint(&all, entry.Message) // also if the entry cannot be encoded
		if line, err := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()).EncodeEntry(entry.Entry, entry.Context); err == nil {
			fmt.Fprint(&all, line)
		}
	}
	return all.String()
}

// Sum returns the sum of the values of a metric's data points that have these attributes among others, and the names of all its attributes.
func Sum(t testing.TB, reader sdkmetric.Reader, name string, with ...attribute.KeyValue) (sum int64, keys []string) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	add := func(attributes attribute.Set, value int64) {
		for _, kv := range attributes.ToSlice() {
			keys = append(keys, string(kv.Key))
		}
		isOther := func(want attribute.KeyValue) bool {
			got, ok := attributes.Value(want.Key)
			return !ok || got.String() != want.Value.String()
		}
		if !slices.ContainsFunc(with, isOther) {
			sum += value
		}
	}
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			if metric.Name == name {
				forEach(t, metric, add)
			}
		}
	}
	slices.Sort(keys)
	return sum, slices.Compact(keys)
}

// forEach calls a function with the attributes and the value of each data point of a metric. The value of a histogram is the number of measurements.
func forEach(t testing.TB, metric metricdata.Metrics, call func(attribute.Set, int64)) {
	t.Helper()
	switch data := metric.Data.(type) {
	case metricdata.Sum[int64]:
		for _, point := range data.DataPoints {
			call(point.Attributes, point.Value)
		}
	case metricdata.Gauge[int64]:
		for _, point := range data.DataPoints {
			call(point.Attributes, point.Value)
		}
	case metricdata.Histogram[float64]:
		for _, point := range data.DataPoints {
			call(point.Attributes, int64(point.Count))
		}
	default:
		t.Fatalf("%s has data of type %T", metric.Name, data)
	}
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

// Usage holds the time and the memory that a process has used.
type Usage struct {
	// CPU is its time in user and kernel mode since its start, which Linux counts in hundredths of a second.
	CPU time.Duration
	// Memory is its resident memory in bytes.
	Memory int
}

// UsageOf reads the usage of a process, by its ID, from /proc, so that it needs Linux.
func UsageOf(t testing.TB, pid int) Usage {
	t.Helper()
	process, err := procfs.NewProc(pid)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := process.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return Usage{CPU: time.Duration(stat.CPUTime() * float64(time.Second)), Memory: stat.ResidentMemory()}
}
