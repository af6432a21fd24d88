/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// throttling returns a client of a server that answers every request with a Retry-After header, and the number of its requests.
func throttling(t *testing.T, seconds int, contentType string, body any, wrap ...func(http.RoundTripper) http.RoundTripper,
) (client kubernetes.Interface, requests *atomic.Int32) {
	t.Helper()
	requests = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		w.WriteHeader(http.StatusTooManyRequests)
		if text, ok := body.(string); ok {
			_, _ = w.Write([]byte(text))
			return
		}
		_ = json.NewEncoder(w).Encode(body)
	}))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL}
	for _, w := range wrap {
		config.Wrap(w)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client, requests
}

func create(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.CoreV1().ConfigMaps("ns").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	return err
}

func TestTransport_RetryAfter_IsLeftToTheBackOff(t *testing.T) {
	structured := apierrors.NewTooManyRequests("structured", 45).ErrStatus
	structured.Kind, structured.APIVersion = "Status", "v1"
	for name, tc := range map[string]struct {
		contentType string
		body        any
		want        string
	}{
		"PriorityAndFairness": {"text/plain; charset=utf-8", "Too many requests, please try again later.", "too many requests"},
		"Status":              {"application/json", structured, "structured"},
		"Invalid":             {"application/json", "not JSON", "too many requests"},
	} {
		t.Run(name, func(t *testing.T) {
			client, requests := throttling(t, 45, tc.contentType, tc.body, Transport)
			err := create(t.Context(), client)
			if !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, want one of too many requests that contains %q", err, tc.want)
			}
			f, _ := newFailures()
			if got := after(t, f.Outcome(object("a"), Failed("R", err))); got != 45*time.Second || requests.Load() != 1 {
				t.Errorf("after %d requests it is retried after %s, want one request and 45s", requests.Load(), got)
			}
		})
	}
}

// If this fails, client-go does not retry by itself any more, and Transport may be deleted.
func TestUpstreamClient_RetryAfter_IsStillRetriedInTheCaller(t *testing.T) {
	client, requests := throttling(t, 0, "text/plain", "no")
	if err := create(t.Context(), client); !apierrors.IsTooManyRequests(err) || requests.Load() != 11 {
		t.Errorf("%d requests end with %v, want 11", requests.Load(), err)
	}
}
