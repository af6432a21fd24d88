/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"

	"knative.dev/pkg/webhook"
)

// reviewer answers the admission requests of hooks as a webhook of knative.dev/pkg.
type reviewer struct {
	webhook.StatelessAdmissionImpl

	path   string
	review func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)
}

// Path implements webhook.AdmissionController.
func (r *reviewer) Path() string { return r.path }

// Admit implements webhook.AdmissionController, which has no errors: every response that it can return is an answer to the API server. For an
// error, failing answers in its place, and the API server applies the failure policy of the webhook.
func (r *reviewer) Admit(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	response, err := r.review(ctx, request)
	if err == nil {
		return response
	}
	if of, ok := ctx.Value(responseKey{}).(*failable); ok {
		of.failure = err
	}
	return webhook.MakeErrorStatus("%v", err)
}

type responseKey struct{}

// failable is the response to a request. If its review fails, it has the error in place of the AdmissionReview that knative.dev/pkg writes.
type failable struct {
	http.ResponseWriter

	failure error
}

// Write implements http.ResponseWriter.
func (f *failable) Write(content []byte) (int, error) {
	if f.failure != nil {
		return len(content), nil //nolint:nilerr // the failure of the review is not one of the connection
	}
	return f.ResponseWriter.Write(content) //nolint:wrapcheck // as the writer that it stands for
}

// failing wraps the handler of knative.dev/pkg for reviews that fail.
func failing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := &failable{ResponseWriter: w}
		next.ServeHTTP(response, r.WithContext(context.WithValue(r.Context(), responseKey{}, response)))
		if response.failure != nil {
			http.Error(w, response.failure.Error(), http.StatusInternalServerError)
		}
	})
}
