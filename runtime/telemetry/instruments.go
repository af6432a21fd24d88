/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// scope is the instrumentation scope of the meters and tracers of this package.
const scope = "github.com/mallard-dev/mallard/runtime/telemetry"

// durationBounds are in seconds: from a reconciliation that finds nothing to do to one whose requests time out.
var durationBounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// meter and its instruments begin to record when the process sets the global provider.
var (
	meter = otel.Meter(scope)

	reconciliations = must(meter.Int64Counter("reconcile", metric.WithUnit("{reconciliation}"),
		metric.WithDescription("Reconciliations by result.")))
	duration = must(meter.Float64Histogram("reconcile.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of reconciliations."), metric.WithExplicitBucketBoundaries(durationBounds...)))
	active = must(meter.Int64UpDownCounter("reconcile.active", metric.WithUnit("{reconciliation}"),
		metric.WithDescription("Reconciliations in progress.")))
	triggers = must(meter.Int64Counter("reconcile.triggers", metric.WithUnit("{event}"),
		metric.WithDescription("Events that enqueued an object. Several of them may lead to one reconciliation.")))
	leading = must(meter.Int64Gauge("leader.held",
		metric.WithDescription("1 while this process holds the lease, 0 once it has lost it.")))
	responses = must(meter.Int64Counter("kubernetes.client.responses", metric.WithUnit("{response}"),
		metric.WithDescription("Answers of the API server to this process, by method and status code.")))
	expiry = must(meter.Int64Gauge("webhook.certificate.expiry.timestamp", metric.WithUnit("s"),
		metric.WithDescription("When the certificate that the webhook serves with expires, in seconds since 1970.")))
	valid = must(meter.Int64Gauge("config.valid",
		metric.WithDescription("1 if the ConfigMap is in force as it stands, 0 if it is bad and the last good one is.")))
)

// must is for errors about names and bounds, which are constants.
func must[T any](instrument T, err error) T {
	if err != nil {
		panic(err)
	}
	return instrument
}
