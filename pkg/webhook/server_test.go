/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/reconciler"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/webhook"
)

func TestConnectionsAreClosedWithTheirNextAnswerOnceItStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	handler := closing(ctx, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
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

func TestWebhooksAreHiddenFromSharedmain(t *testing.T) {
	for name, ctor := range map[string]injection.ControllerConstructor{"admission": NewValidationController, "conversion": NewConversionController} {
		t.Run(name, func(t *testing.T) {
			ctx, _ := reconcilertesting.SetupFakeContext(t)
			ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"})
			var server Server
			// The last constructor would start to serve.
			impl := server.Serve(ctor, nil)[0](ctx, nil)
			if len(server.handlers) != 1 {
				t.Errorf("%d handlers are served, want 1", len(server.handlers))
			}
			switch impl.Reconciler.(type) {
			case webhook.AdmissionController, webhook.ConversionController:
				t.Error("it would be served twice")
			}
			if _, ok := impl.Reconciler.(reconciler.LeaderAware); !ok {
				t.Error("it cannot be told that it leads")
			}
		})
	}
}
