/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/measured"
)

// metrics are those of the test process, and registry has them as Prometheus receives them. They add up: earlier are those before the scene.
var (
	metrics  = sdkmetric.NewManualReader()
	earlier  sdkmetric.Reader
	registry = prometheus.NewRegistry()
)

func setMeterProvider() error {
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	if err != nil {
		return fmt.Errorf("creating the exporter: %w", err)
	}
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(metrics), sdkmetric.WithReader(exporter)))
	return nil
}

// counted returns the sum in the scene of the data points of a counter of a hook that have these attributes, among others: keys and values in turn.
func counted(t testing.TB, name, hookName string, with ...string) int64 {
	t.Helper()
	attributes := []attribute.KeyValue{attribute.String("hook", hookName)}
	for i := 0; i+1 < len(with); i += 2 {
		attributes = append(attributes, attribute.String(with[i], with[i+1]))
	}
	sum, _ := measured.Sum(t, metrics, name, attributes...)
	before, _ := measured.Sum(t, earlier, name, attributes...)
	return sum - before
}

func expectMeasured(t testing.TB, want int64, name, hookName string, with ...string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s of hook %s %v is %d", name, hookName, with, want), func(context.Context) error {
		if got := counted(t, name, hookName, with...); got != want {
			return fmt.Errorf("it is %d", got)
		}
		return nil
	})
}

// awaitMeasured waits until a counter of a hook is at least as large. A run that fails is repeated.
func awaitMeasured(t testing.TB, atLeast int64, name, hookName string, with ...string) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s of hook %s %v is at least %d", name, hookName, with, atLeast), func(context.Context) error {
		if got := counted(t, name, hookName, with...); got < atLeast {
			return fmt.Errorf("it is %d", got)
		}
		return nil
	})
}

// queueLength returns the length of a queue of the processes that run.
func queueLength(t *testing.T, queue string) int64 {
	t.Helper()
	length, _ := measured.Sum(t, metrics, "hook.queue.length", attribute.String("queue", queue))
	return length
}
