/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	clientmetrics "k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/workqueue"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/observability/metrics/k8s"
)

// queues measures the queues of knative.dev/pkg.
var queues = queueProvider{MetricsProvider: must(k8s.NewWorkqueueMetricsProvider())}

// Register installs the metrics of work queues and clients. It has to be called
// before sharedmain, which registers what is partly wrong: the first to register wins.
func Register() {
	workqueue.SetProvider(queues.MetricsProvider)
	controller.SetMetricsProvider(&queues)
	clients := must(k8s.NewClientMetricProvider())
	clientmetrics.Register(clientmetrics.RegisterOpts{RequestLatency: clients.RequestLatencyMetric(), RequestResult: answers{}})
}

// queueProvider is for the queues of knative.dev/pkg/controller. Each requests the metric of unfinished work twice, and
// writes the age of its longest running worker into the second one: both then show that age, and
// nothing shows the other. This gives every queue the right one at the second time.
type queueProvider struct {
	workqueue.MetricsProvider

	// half has the names of the queues that have asked once.
	half sync.Map
}

// NewUnfinishedWorkSecondsMetric implements workqueue.MetricsProvider.
func (p *queueProvider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	if _, hasAsked := p.half.LoadAndDelete(name); hasAsked {
		return p.NewLongestRunningProcessorSecondsMetric(name)
	}
	p.half.Store(name, nil)
	return p.MetricsProvider.NewUnfinishedWorkSecondsMetric(name)
}

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
		// client-go's own metrics are registered already, by the template of the URL rather than the URL.
		otelhttp.WithMeterProvider(metricnoop.NewMeterProvider()),
	)
}
