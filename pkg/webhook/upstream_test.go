/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/logging"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/webhook"
	"knative.dev/pkg/webhook/resourcesemantics"
	"knative.dev/pkg/webhook/resourcesemantics/defaulting"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// If the API server has credentials for webhooks, they are in the log, unless its level is above info.
func TestUpstream_Requests_LogTheirHeaders(t *testing.T) {
	core, logged := observer.New(zap.InfoLevel)
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(logging.WithLogger(ctx, zap.New(core).Sugar()), webhook.Options{ServiceName: "webhook"})
	server, err := webhook.New(ctx, []any{NewValidationController(ctx, nil).Reconciler})
	if err != nil {
		t.Fatal(err)
	}
	server.InformersHaveSynced()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/validation", strings.NewReader(`{"request": {"operation": "CONNECT"}}`))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer secret")
	server.ServeHTTP(httptest.NewRecorder(), request)
	entries := logged.Filter(func(e observer.LoggedEntry) bool { return strings.Contains(e.Message, "Bearer secret") })
	if entries.Len() == 0 {
		t.Errorf("knative.dev/pkg does not log headers any more: %v", logged.All())
	}
}

// The day that this fails, admission.go may be no longer needed.
func TestUpstreamDefaulting_RewritesObjects(t *testing.T) {
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	handlers := map[schema.GroupVersionKind]resourcesemantics.GenericCRD{v1.SchemeGroupVersion.WithKind("AddressableService"): &v1.AddressableService{}}
	for _, strict := range []bool{true, false} {
		impl := defaulting.NewAdmissionController(ctx, DefaultingName, "/defaulting", handlers, nil, strict)
		kind := kindOf("v1", "AddressableService")
		if response := admit(t, impl, kind, `{"spec":{"ports":"80"}}`); response.Allowed {
			t.Error("knative.dev/pkg leaves an object that cannot be decoded to the schema")
		}
		patch := string(admit(t, impl, kind, `{"metadata":{"later":1},"spec":{"ref":{"kind":"Service"}}}`).Patch)
		if !strings.Contains(patch, `{"op":"remove","path":"/metadata/later"}`) || !strings.Contains(patch, `{"op":"add","path":"/status","value":{}}`) {
			t.Errorf("knative.dev/pkg keeps unknown fields, and writes no empty ones: %s", patch)
		}
		if response := admit(t, impl, kind, `{"status":{"later":1}}`); response.Allowed == strict {
			t.Errorf("with disallowUnknownFields %t, a field of a later release is allowed: %t", strict, response.Allowed)
		}
	}
}
