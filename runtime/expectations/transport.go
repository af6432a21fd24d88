/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package expectations

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type recordingKey struct{}

// Recording returns a context in which Transport records the writes of an object: the generated reconciler discards the responses of
// the API server, which alone contain the new resourceVersion.
func (e *Expectations) Recording(ctx context.Context, object metav1.Object) context.Context {
	return context.WithValue(ctx, recordingKey{}, func(written metav1.Object) {
		if written.GetUID() == object.GetUID() {
			e.Record(written)
		}
	})
}

// Transport is for rest.Config.Wrap. It records the writes of requests whose context is from Recording.
func Transport(inner http.RoundTripper) http.RoundTripper { return &recorder{inner} }

type recorder struct{ inner http.RoundTripper }

// WrappedRoundTripper lets client-go find the transport at the bottom.
func (r *recorder) WrappedRoundTripper() http.RoundTripper { return r.inner }

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.inner.RoundTrip(request)
	record, isRecorded := request.Context().Value(recordingKey{}).(func(metav1.Object))
	isWrite := request.Method == http.MethodPut || request.Method == http.MethodPatch
	if err != nil || !isRecorded || !isWrite || response.StatusCode != http.StatusOK {
		return response, err //nolint:wrapcheck // it is not ours
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading the response to a write: %w", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	var written metav1.PartialObjectMetadata
	// The client reports what cannot be decoded.
	if json.Unmarshal(body, &written) == nil {
		record(&written)
	}
	return response, nil
}
