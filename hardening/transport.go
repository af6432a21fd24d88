/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

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

// transport is for rest.Config.Wrap. All clients of the process use it.
type transport struct {
	inner   http.RoundTripper
	process *process
}

// WrappedRoundTripper implements net.RoundTripperWrapper.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.inner }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.inner.RoundTrip(request)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is not ours
	}
	off := t.process.off
	if strings.Contains(request.URL.Path, "/leases") && (response.StatusCode < http.StatusBadRequest || response.StatusCode == http.StatusNotFound) {
		t.process.leases.Store(true)
	}
	if strings.Contains(request.URL.Path, "/secrets") && !off[secrets] {
		response.Header.Del("Warning")
	}
	if !off[retries] {
		if err := keepRetryAfter(request, response); err != nil {
			return nil, err
		}
	}
	// The context has it only if writes are awaited.
	if record, ok := request.Context().Value(recordingKey{}).(func(write)); ok {
		if err := recordWrite(request, response, record); err != nil {
			return nil, err
		}
	}
	return response, nil
}

// readBody reads the body of a response, which can be read again.
func readBody(response *http.Response) ([]byte, error) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("reading a response with status %d: %w", response.StatusCode, err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// keepRetryAfter moves the time from the header Retry-After, which client-go obeys, to the Status in the body, which the back-off does.
func keepRetryAfter(request *http.Request, response *http.Response) error {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || response.StatusCode < http.StatusBadRequest {
		return nil //nolint:nilerr // there is no such header, or it is a date, which client-go ignores
	}
	response.Header.Del("Retry-After")
	body, err := readBody(response)
	if err != nil {
		return err
	}
	if contentType := response.Header.Get("Content-Type"); contentType != runtime.ContentTypeJSON && !strings.HasPrefix(contentType, "text/") {
		return nil
	}
	status := apierrors.NewGenericServerResponse(response.StatusCode, request.Method, schema.GroupResource{}, "", string(body), seconds, true).ErrStatus
	status.Kind, status.APIVersion = "Status", "v1"
	_ = json.Unmarshal(body, &status) // priority and fairness sends text
	if body, err = json.Marshal(status); err != nil {
		return fmt.Errorf("encoding a status: %w", err)
	}
	response.Header.Set("Content-Type", runtime.ContentTypeJSON)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}
