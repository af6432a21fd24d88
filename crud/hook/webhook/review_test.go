/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"knative.dev/pkg/webhook"
)

// A response with another UID is a failed call to the API server.
func TestReviewers_Error_IsNoAnswer(t *testing.T) {
	wh, err := webhook.New(webhook.WithOptions(t.Context(), webhook.Options{}), []any{reviewers{
		"/reviews/answers": func(_ context.Context, request *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			return &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"of " + request.Name}}, nil
		},
		"/reviews/fails": func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error) {
			return nil, errors.New("the hook has failed")
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/reviews/answers": "1", "/reviews/fails": "the hook has failed", "/reviews/other": "no hook answers reviews at /reviews/other",
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(`{"request": {"uid": "1", "name": "a"}}`))
		request.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		wh.ServeHTTP(recorder, request)
		var review admissionv1.AdmissionReview
		if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil || string(review.Response.UID) != want || review.Response.Allowed != (want == "1") {
			t.Errorf("%s is answered with %s, %v, want the UID %q", path, recorder.Body, err, want)
		}
	}
}
