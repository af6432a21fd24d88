/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"
	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"
)

// ErrUnknown is returned if there is no value at this reading.
var ErrUnknown = errors.New("not known yet")

// ObserveReadiness exports whether the process is ready: check returns nil then.
func ObserveReadiness(check func() error) {
	observe("process.ready", "", "1 while the process is ready, as its readiness probe says, else 0.",
		func() (int64, error) { return number(check() == nil), nil })
}

// ObserveCertificate exports until when the serving certificate is valid.
// There is no value while notAfter returns an error; one other than ErrUnknown is reported to the
// error handler of OpenTelemetry.
func ObserveCertificate(notAfter func() (time.Time, error)) {
	observe("webhook.certificate.expiry.timestamp", "s",
		"When the certificate that the webhook serves with expires, in seconds since 1970.",
		func() (int64, error) {
			end, err := notAfter()
			return end.Unix(), err
		})
}

// observe makes a gauge whose value is read anew each time.
func observe(name, unit, description string, read func() (int64, error)) {
	must(meter.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			value, err := read()
			switch {
			case err == nil:
				o.Observe(value)
			case !errors.Is(err, ErrUnknown):
				return fmt.Errorf("reading %s: %w", name, err)
			}
			return nil
		})))
}

// WatchConfigMaps exports of each ConfigMap whether its last change was valid, or whether
// the process has kept the content before it. check returns the error that the process finds in it.
func WatchConfigMaps(cmw configmap.Watcher, names []string, check func(*corev1.ConfigMap) error) {
	for _, name := range names {
		cmw.Watch(name, func(cm *corev1.ConfigMap) {
			valid.Record(context.Background(), number(check(cm) == nil), metric.WithAttributes(configKey.String(name)))
		})
	}
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
