/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Attributes of the metrics.
const (
	observerKey = attribute.Key("observer")
	typeKey     = attribute.Key("type")
	resultKey   = attribute.Key("result")
)

// The instruments begin to record when the process sets the global provider. The errors would be about names and bounds, which are constants.
var (
	meter = otel.Meter("github.com/mallard-dev/mallard/observe")

	calls, _ = meter.Int64Counter("observer.calls", metric.WithUnit("{call}"),
		metric.WithDescription("Calls of observers, by the type of the event and the result."))
	duration, _ = meter.Float64Histogram("observer.duration", metric.WithUnit("s"), metric.WithDescription("Duration of the calls of observers."),
		// From a handler that counts to one whose requests time out.
		metric.WithExplicitBucketBoundaries(0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30))
	pending, _ = meter.Int64UpDownCounter("observer.pending", metric.WithUnit("{object}"),
		metric.WithDescription("Objects with events that wait for a worker. Those that wait for a repetition are not among them."))
	mismatches, _ = meter.Int64Counter("observer.mismatches", metric.WithUnit("{notification}"),
		metric.WithDescription("Notifications with an object of another type than that of the observer."))
	transformErrors, _ = meter.Int64Counter("observer.transform.errors", metric.WithUnit("{object}"),
		metric.WithDescription("Objects that were cached as they are because the transform of a source failed."))
)

// metrics has the attributes of one observer. They are made once, because a call must not allocate.
type metrics struct {
	own      []metric.AddOption
	outcomes map[outcome]measurement
}

// outcome is the type of an event, and how the call with it ended.
type outcome struct {
	event  Type
	result result
}

type measurement struct {
	counted []metric.AddOption
	timed   []metric.RecordOption
}

func newMetrics(name string) metrics {
	m := metrics{
		own:      []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(observerKey.String(name)))},
		outcomes: map[outcome]measurement{},
	}
	for _, t := range allTypes {
		for _, r := range []result{resultSuccess, resultSkip, resultRequeue, resultConflict, resultError, resultPermanentError, resultPanic} {
			attributes := metric.WithAttributeSet(attribute.NewSet(observerKey.String(name), typeKey.String(string(t)), resultKey.String(string(r))))
			m.outcomes[outcome{t, r}] = measurement{[]metric.AddOption{attributes}, []metric.RecordOption{attributes}}
		}
	}
	// A rate is known from the first mismatch on only if there was a zero before.
	mismatches.Add(context.Background(), 0, m.own...)
	return m
}

// waits counts objects that begin to wait for a worker, or cease to.
func (m metrics) waits(n int64) { pending.Add(context.Background(), n, m.own...) }

func (m metrics) called(t Type, r result, took time.Duration) {
	measured := m.outcomes[outcome{t, r}]
	calls.Add(context.Background(), 1, measured.counted...)
	duration.Record(context.Background(), took.Seconds(), measured.timed...)
}
