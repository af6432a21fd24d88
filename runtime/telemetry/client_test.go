/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	clientmetrics "k8s.io/client-go/tools/metrics"

	"knative.dev/pkg/observability/metrics/k8s"

	metering "github.com/mallard-dev/mallard/test/measured"
)

func TestClient_Responses_AreCountedByCode(t *testing.T) {
	// As client-go calls it, so this shows too that it is ours that is registered.
	counted := func(code string) float64 {
		return measured(t, "kubernetes.client.responses", attributes{"code": code})
	}
	before := map[string]float64{"409": counted("409"), "<error>": counted("<error>"), "200": counted("200")}
	clientmetrics.RequestResult.Increment(t.Context(), "409", "PUT", "host")
	clientmetrics.RequestResult.Increment(t.Context(), "409", "put", "host")
	clientmetrics.RequestResult.Increment(t.Context(), "<error>", "GET", "host")
	for code, want := range map[string]float64{"409": 2, "<error>": 1, "200": 0} {
		if got := counted(code) - before[code]; got != want {
			t.Errorf("%v answers with code %s, want %v", got, code, want)
		}
	}
}

// When this fails knative.dev/pkg is fixed, and the transport answers can be removed.
func TestUpstream_ClientMetric_LacksTheCode(t *testing.T) {
	upstream, err := k8s.NewClientMetricProvider()
	if err != nil {
		t.Fatal(err)
	}
	upstream.RequestResultMetric().Increment(t.Context(), "409", "GET", "upstream")
	for _, p := range metering.Points(t, reader, "kn.k8s.client.http.response.status_code", nil) {
		if code, ok := p.Attributes.Value("http.response.status_code"); ok {
			t.Errorf("an answer is counted with its code %s", code.String())
		}
	}
}

func TestClient_RequestInAReconciliation_IsAChildOfItsSpan(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	client := &http.Client{Transport: Transport(http.DefaultTransport)}
	get := func(ctx context.Context) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	requests := func() []trace.SpanContext {
		var parents []trace.SpanContext
		for _, span := range spans.Ended() {
			if span.Name() == "HTTP GET" {
				parents = append(parents, span.Parent())
			}
		}
		return parents
	}

	before := len(requests())
	get(t.Context())
	if n := len(requests()) - before; n != 0 {
		t.Errorf("a request outside of any span has %d", n)
	}
	ctx, parent := otel.Tracer(scope).Start(t.Context(), "a reconciliation")
	get(ctx)
	parent.End()
	parents := requests()[before:]
	if len(parents) != 1 || parents[0].SpanID() != parent.SpanContext().SpanID() {
		t.Errorf("a request within a span has spans below %v, want one below it", parents)
	}
}
