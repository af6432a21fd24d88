/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// ObserveReadiness exports whether the process is ready: check returns nil then. It is called for each reading, because a process
// whose start hangs would never record a value.
func ObserveReadiness(check func() error) {
	must(meter.Int64ObservableGauge("process.ready", metric.WithDescription("1 while the process is ready, as its readiness probe says, else 0."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(number(check() == nil))
			return nil
		})))
}

// CertificateExpires records until when the serving certificate is valid.
func CertificateExpires(at time.Time) { expiry.Record(context.Background(), at.Unix()) }

// ConfigMapIsValid records whether the last change of a ConfigMap was valid, or the process has kept the content before it.
func ConfigMapIsValid(name string, isValid bool) {
	valid.Record(context.Background(), number(isValid), metric.WithAttributes(attribute.String("config_map", name)))
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
