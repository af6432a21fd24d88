/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// scope is the instrumentation scope of the meters and tracers of this package.
const scope = "github.com/mallard-dev/mallard/runtime/telemetry"

// Attributes of metrics. Each has few values, whatever is in the cluster.
const (
	kindKey   = attribute.Key("kind")
	resultKey = attribute.Key("result")
	causeKey  = attribute.Key("cause")
	sourceKey = attribute.Key("source")
	leaseKey  = attribute.Key("lease")
	configKey = attribute.Key("config_map")
)

// durationBounds are in seconds: from a reconciliation that finds nothing to do to one whose requests time out.
var durationBounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

type instruments struct {
	reconciliations metric.Int64Counter
	duration        metric.Float64Histogram
	active          metric.Int64UpDownCounter
	triggers        metric.Int64Counter
	leading         metric.Int64Gauge
}

// newInstruments creates the instruments of reconcilers. Several calls share them.
func newInstruments() (*instruments, error) {
	meter := otel.Meter(scope)
	var i instruments
	var errs [5]error
	i.reconciliations, errs[0] = meter.Int64Counter("reconcile", metric.WithUnit("{reconciliation}"),
		metric.WithDescription("Reconciliations by result."))
	i.duration, errs[1] = meter.Float64Histogram("reconcile.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of reconciliations."), metric.WithExplicitBucketBoundaries(durationBounds...))
	i.active, errs[2] = meter.Int64UpDownCounter("reconcile.active", metric.WithUnit("{reconciliation}"),
		metric.WithDescription("Reconciliations in progress."))
	i.triggers, errs[3] = meter.Int64Counter("reconcile.triggers", metric.WithUnit("{event}"),
		metric.WithDescription("Events that enqueued an object. Several of them may lead to one reconciliation."))
	i.leading, errs[4] = meter.Int64Gauge("leader.held",
		metric.WithDescription("1 while this process holds the lease, 0 once it has lost it."))
	return &i, errors.Join(errs[:]...)
}
