/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Transport is for rest.Config.Wrap. It returns responses with a Retry-After header as errors to the caller, who retries with
// back-off. client-go would sleep in the worker and retry, up to ten times.
func Transport(inner http.RoundTripper) http.RoundTripper { return &transport{inner} }

type transport struct{ inner http.RoundTripper }

// RoundTrip implements http.RoundTripper. It moves the time from the header, which client-go obeys, to the Status in the body.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.inner.RoundTrip(r)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is not ours
	}
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || response.StatusCode < http.StatusBadRequest {
		return response, nil //nolint:nilerr // there is no such header, or it is a date, which client-go ignores
	}
	response.Header.Del("Retry-After")
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading a response with status %d: %w", response.StatusCode, err)
	}
	if contentType := response.Header.Get("Content-Type"); contentType == runtime.ContentTypeJSON || strings.HasPrefix(contentType, "text/") {
		status := apierrors.NewGenericServerResponse(response.StatusCode, r.Method, schema.GroupResource{}, "", string(text), seconds, true).ErrStatus
		status.Kind, status.APIVersion = "Status", "v1"
		_ = json.Unmarshal(text, &status) // priority and fairness sends text
		if text, err = json.Marshal(status); err != nil {
			return nil, fmt.Errorf("encoding a status: %w", err)
		}
		response.Header.Set("Content-Type", runtime.ContentTypeJSON)
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return response, nil
}
