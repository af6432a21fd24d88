/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"knative.dev/pkg/webhook"
)

func TestReview_Error_IsNoAnswer(t *testing.T) {
	webhooks := []any{
		&reviewer{path: "/answers", review: func(_ context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			return &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"of " + request.Name}}, nil
		}},
		&reviewer{path: "/fails", review: func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			return nil, errors.New("the hook has failed")
		}},
	}
	wh, err := webhook.New(webhook.WithOptions(t.Context(), webhook.Options{}), webhooks)
	if err != nil {
		t.Fatal(err)
	}
	handler := failing(wh)
	for path, want := range map[string]struct {
		status int
		body   string
	}{
		"/answers": {http.StatusOK, `"warnings":["of a"]`},
		"/fails":   {http.StatusInternalServerError, "the hook has failed\n"},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(`{"request": {"uid": "1", "name": "a"}}`))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		body := recorder.Body.String()
		if recorder.Code != want.status || !strings.Contains(body, want.body) || strings.Contains(body, "allowed") != (want.status == http.StatusOK) {
			t.Errorf("%s is answered with %d %s, want %d %s", path, recorder.Code, body, want.status, want.body)
		}
	}
}
