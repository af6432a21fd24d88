/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/runtime/certificates"
)

func TestServer_WhileItStops_ClosesEachConnectionWithTheNextResponse(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	handler := newRoutes(nil).handler(ctx, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), newKeys(t, nil))
	answer := func() string {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/validation", nil))
		return recorder.Header().Get("Connection")
	}
	if got := answer(); got != "" {
		t.Errorf("while it serves, the header is %q", got)
	}
	stop()
	if got := answer(); got != "close" {
		t.Errorf("while it stops, the header is %q", got)
	}
}

// newKeys reads a Secret with this data.
func newKeys(t *testing.T, data map[string][]byte) *certificates.Keys {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if err := indexer.Add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}, Data: data}); err != nil {
		t.Fatal(err)
	}
	return certificates.NewKeys(corev1listers.NewSecretLister(indexer).Secrets("ns"), "certs")
}

type (
	validating struct{}
	converting struct{}
)

func (validating) Path() string { return "/validation" }

func (validating) Admit(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return nil
}

func (converting) Path() string { return "/conversion" }

func (converting) Convert(context.Context, *apiextensionsv1.ConversionRequest) *apiextensionsv1.ConversionResponse {
	return nil
}

// handlers are served at /validation, for admission, and at /conversion.
var handlers = []any{webhook.AdmissionController(validating{}), webhook.ConversionController(converting{})}

func TestServer_ClientsInventNames_MetricsHaveTheServedRoutesOnly(t *testing.T) {
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	s := newRoutes(handlers)
	handler := s.instrumented(s.handler(t.Context(), http.NotFoundHandler(), newKeys(t, nil)), "webhook.ns.svc", otelhttp.WithMeterProvider(provider))
	for i := range 5000 {
		request := httptest.NewRequestWithContext(t.Context(), fmt.Sprintf("M%d", i), fmt.Sprintf("/path%d", i), nil)
		request.Host = fmt.Sprintf("host%d:%d", i, i+1)
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
	for _, path := range []string{"/validation", "/conversion"} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil))
	}
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	routes := map[string]bool{}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		points := 0
		switch data := m.Data.(type) {
		case metricdata.Histogram[int64]:
			points = len(data.DataPoints)
		case metricdata.Histogram[float64]:
			points = len(data.DataPoints)
			for _, p := range data.DataPoints {
				route, _ := p.Attributes.Value("http.route")
				routes[route.AsString()] = true
			}
		}
		if points != 3 {
			t.Errorf("%s has %d attribute sets, want one for each route and one for all others", m.Name, points)
		}
	}
	if diff := cmp.Diff(map[string]bool{"/validation": true, "/conversion": true, "unknown": true}, routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

func TestServer_BoundsWhatAClientMaySend(t *testing.T) {
	server := newServer(nil, nil)
	if server.ReadTimeout <= 0 || server.WriteTimeout <= 0 || server.MaxHeaderBytes <= 0 {
		t.Errorf("a client is not bounded: %+v", server)
	}
	// That of client-go's transports is 90 s.
	if server.IdleTimeout < 2*time.Minute {
		t.Errorf("idle connections are closed after %v, while an API server may be about to use them", server.IdleTimeout)
	}
}
