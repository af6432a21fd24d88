/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"bytes"
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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/webhook"
)

func TestServer_WhileItStops_ClosesEachConnectionWithTheNextResponse(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	handler := (&server{}).handler(ctx, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), newKeys(t, nil))
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

// newKeys reads a Secret with this data, which may be changed.
func newKeys(t *testing.T, data map[string][]byte) *keys {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if err := indexer.Add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}, Data: data}); err != nil {
		t.Fatal(err)
	}
	return &keys{secrets: corev1listers.NewSecretLister(indexer).Secrets("ns"), name: "certs"}
}

// newHandlers returns controllers that are served at /validation, for admission, and at /conversion.
func newHandlers(t *testing.T) (context.Context, []any) {
	t.Helper()
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"})
	return ctx, []any{NewValidationController(ctx, nil).Reconciler, NewConversionController(ctx, nil).Reconciler}
}

func TestServer_ClientsInventNames_MetricsHaveTheServedRoutesOnly(t *testing.T) {
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	_, handlers := newHandlers(t)
	s := &server{handlers: handlers}
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

func TestTheLastGoodCertificateIsServedWhileTheSecretIsSpoilt(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	k := &keys{secrets: corev1listers.NewSecretLister(indexer).Secrets("ns"), name: "certs"}
	if _, err := k.get(nil); err == nil {
		t.Error("a certificate is served though there is none")
	}
	store := func(data map[string][]byte) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}, Data: data}
		if err := indexer.Update(secret); err != nil {
			t.Fatal(err)
		}
	}
	served := func() []byte {
		got, err := k.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Certificate[0]
	}
	store(certificate(t, "webhook", time.Hour))
	first := served()
	store(nil)
	if !bytes.Equal(served(), first) {
		t.Error("without a certificate in the secret another one is served")
	}
	store(certificate(t, "webhook", time.Hour))
	if bytes.Equal(served(), first) {
		t.Error("the old certificate is served though there is a new one")
	}
}
