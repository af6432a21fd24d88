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
	"k8s.io/client-go/rest"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
)

// WithRecordedWrites returns a context whose clientset, the one with that key, records its writes: the generated reconciler discards
// the responses of the API server, which alone contain the new resourceVersion. A fake clientset in the context is kept.
func WithRecordedWrites[C any](ctx context.Context, writes *Writes, key any, newForConfig func(*rest.Config) (*C, error)) context.Context {
	if _, isReal := ctx.Value(key).(*C); !isReal {
		return ctx
	}
	config := rest.CopyConfig(injection.GetConfig(ctx))
	config.Wrap(writes.transport)
	client, err := newForConfig(config)
	if err != nil {
		logging.FromContext(ctx).Fatalw("Failed to create a client", "error", err)
	}
	return context.WithValue(ctx, key, client)
}

type recorder struct {
	inner  http.RoundTripper
	writes *Writes
}

func (w *Writes) transport(inner http.RoundTripper) http.RoundTripper {
	return &recorder{inner: inner, writes: w}
}

// WrappedRoundTripper lets client-go find the transport at the bottom.
func (r *recorder) WrappedRoundTripper() http.RoundTripper { return r.inner }

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.inner.RoundTrip(request)
	isWrite := request.Method == http.MethodPut || request.Method == http.MethodPatch
	if err != nil || !isWrite || response.StatusCode != http.StatusOK {
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
		r.writes.Record(&written)
	}
	return response, nil
}
