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
	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"
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

// WatchConfigMaps exports of each ConfigMap whether its last change was valid, or whether
// the process has kept the content before it. check returns the error that the process finds in it.
func WatchConfigMaps(cmw configmap.Watcher, names []string, check func(*corev1.ConfigMap) error) {
	for _, name := range names {
		cmw.Watch(name, func(cm *corev1.ConfigMap) {
			valid.Record(context.Background(), number(check(cm) == nil), metric.WithAttributes(attribute.String("config_map", name)))
		})
	}
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
