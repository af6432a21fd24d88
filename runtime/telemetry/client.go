/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
)

// answers counts what API servers answer. That of knative.dev/pkg leaves the code out unless it is 200.
type answers struct{}

// Increment implements the ResultMetric of client-go. The code is "<error>" when there was no answer.
func (answers) Increment(ctx context.Context, code, method, _ string) {
	responses.Add(ctx, 1, metric.WithAttributes(attribute.String("code", code), attribute.String("method", strings.ToUpper(method))))
}

// Transport makes a span of each request that belongs to one, such as those of a reconciliation. It is for rest.Config.Wrap. Requests of
// informers and of the election belong to none, and their spans would last for hours.
func Transport(inner http.RoundTripper) http.RoundTripper {
	return otelhttp.NewTransport(inner,
		otelhttp.WithFilter(func(r *http.Request) bool { return trace.SpanContextFromContext(r.Context()).IsSampled() }),
		// client-go's own metrics are there already, by the template of the URL rather than the URL.
		otelhttp.WithMeterProvider(metricnoop.NewMeterProvider()),
	)
}
