/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"

	"knative.dev/pkg/webhook"
)

// ReviewFunc answers an admission request. If it returns an error, the API server applies the failure policy of the webhook.
type ReviewFunc func(context.Context, *admissionv1.AdmissionRequest) (*admissionv1.AdmissionResponse, error)

// Review has Serve answer the requests of a path by a function.
func Review(path string, review ReviewFunc) webhook.AdmissionController {
	return &reviewer{path: path, review: review}
}

type reviewer struct {
	webhook.StatelessAdmissionImpl

	path   string
	review ReviewFunc
}

// Path implements webhook.AdmissionController.
func (r *reviewer) Path() string { return r.path }

// Admit implements webhook.AdmissionController, which has no errors: every response that it can return is an answer to the API server.
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

// serveFailable serves a request by a handler of knative.dev/pkg.
func serveFailable(next http.Handler, w http.ResponseWriter, r *http.Request) {
	response := &failable{ResponseWriter: w}
	next.ServeHTTP(response, r.WithContext(context.WithValue(r.Context(), responseKey{}, response)))
	if response.failure != nil {
		http.Error(w, response.failure.Error(), http.StatusInternalServerError)
	}
}
