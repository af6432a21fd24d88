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

	"knative.dev/pkg/logging"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/webhook"
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
