/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// scope is the instrumentation scope of the metrics.
const scope = "github.com/mallard-dev/mallard/observe"

// Attributes of the metrics.
const (
	observerKey = attribute.Key("observer")
	typeKey     = attribute.Key("type")
	resultKey   = attribute.Key("result")

	sourceAttribute = attribute.Key("source")
)

// durationBounds are in seconds: from a handler that counts to one whose requests time out.
var durationBounds = []float64{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30}

// metrics are those of one observer. Their attributes are made once, because a call must not allocate.
type metrics struct {
	calls      metric.Int64Counter
	mismatches metric.Int64Counter
	duration   metric.Float64Histogram

	counted map[Type]map[result][]metric.AddOption
	timed   map[Type]map[result][]metric.RecordOption
	own     []metric.AddOption
}

func newMetrics(name string) *metrics {
	meter := otel.Meter(scope)
	m := &metrics{
		counted: map[Type]map[result][]metric.AddOption{}, timed: map[Type]map[result][]metric.RecordOption{},
		own: []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(observerKey.String(name)))},
	}
	var errs [3]error
	m.calls, errs[0] = meter.Int64Counter("observer.calls", metric.WithUnit("{call}"),
		metric.WithDescription("Calls of observers, by the type of the event and the result."))
	m.duration, errs[1] = meter.Float64Histogram("observer.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of the calls of observers."), metric.WithExplicitBucketBoundaries(durationBounds...))
	m.mismatches, errs[2] = meter.Int64Counter("observer.mismatches", metric.WithUnit("{notification}"),
		metric.WithDescription("Notifications with an object of another type than that of the observer."))
	if err := errors.Join(errs[:]...); err != nil {
		// Names and bounds are constants, so that every test would see it.
		panic(fmt.Errorf("creating the instruments of an observer: %w", err))
	}
	for _, t := range []Type{Added, Updated, Deleted} {
		m.counted[t], m.timed[t] = map[result][]metric.AddOption{}, map[result][]metric.RecordOption{}
		for _, r := range []result{succeeded, postponed, failed, dropped, panicked} {
			attributes := metric.WithAttributeSet(attribute.NewSet(observerKey.String(name), typeKey.String(t.String()), resultKey.String(string(r))))
			m.counted[t][r], m.timed[t][r] = []metric.AddOption{attributes}, []metric.RecordOption{attributes}
		}
	}
	// A rate is known from the first mismatch on only if there was a zero before.
	m.mismatches.Add(context.Background(), 0, m.own...)
	return m
}

func (m *metrics) called(t Type, r result, took time.Duration) {
	m.calls.Add(context.Background(), 1, m.counted[t][r]...)
	m.duration.Record(context.Background(), took.Seconds(), m.timed[t][r]...)
}

func (m *metrics) mismatched() { m.mismatches.Add(context.Background(), 1, m.own...) }
