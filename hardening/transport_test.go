/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"bytes"
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
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	"k8s.io/utils/clock"

	"knative.dev/pkg/controller"
)

// throttling returns a client, hardened or not, of a server that answers every request with a Retry-After header, and the number of its requests.
func throttling(t *testing.T, p *process, seconds int, contentType string, body any) (client kubernetes.Interface, requests *atomic.Int32) {
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
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return &transport{inner, p} })
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

func TestRetries_RetryAfter_IsLeftToTheBackOff(t *testing.T) {
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
			p, _ := newProcess(t)
			client, requests := throttling(t, p, 45, tc.contentType, tc.body)
			err := create(t.Context(), client)
			if !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, want one of too many requests that contains %q", err, tc.want)
			}
			_, event := newBackoff(clock.RealClock{}).result(one, err)
			if _, after := controller.IsRequeueKey(event); after != 45*time.Second || requests.Load() != 1 {
				t.Errorf("after %d requests it is retried after %s, want one request and 45s", requests.Load(), after)
			}
		})
	}
}

// If this fails, client-go does not retry by itself any more, and the concern may be deleted.
func TestRetries_Upstream_RetryAfter_IsRetriedInTheCaller(t *testing.T) {
	p, _ := newProcess(t, retries)
	client, requests := throttling(t, p, 0, "text/plain", "no")
	if err := create(t.Context(), client); !apierrors.IsTooManyRequests(err) || requests.Load() != 11 {
		t.Errorf("%d requests end with %v, want 11", requests.Load(), err)
	}
}

func TestSecrets_WarningAboutASecret_IsDropped(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Warning", `299 - "the value is secret"`)
	}))
	defer server.Close()
	hardened, _ := newProcess(t)
	off, _ := newProcess(t, secrets)
	for _, tc := range []struct {
		process *process
		path    string
		want    bool
	}{{hardened, "secrets", false}, {hardened, "pods", true}, {off, "secrets", true}} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/namespaces/default/"+tc.path+"/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := (&transport{http.DefaultTransport, tc.process}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Warning") != ""; got != tc.want {
			t.Errorf("%s: the warning remains: %t, want %t", tc.path, got, tc.want)
		}
	}
}

func TestSecrets_Upstream_BodiesAreLoggedFromLevelEight(t *testing.T) {
	p, _ := newProcess(t)
	client, _ := throttling(t, p, 0, "text/plain", "no")
	for level, want := range map[int]bool{7: false, 8: true} {
		var log bytes.Buffer
		ctx := klog.NewContext(t.Context(), textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(level), textlogger.Output(&log))))
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, StringData: map[string]string{"key": "the value"}}
		_, _ = client.CoreV1().Secrets("ns").Create(ctx, secret, metav1.CreateOptions{})
		if got := strings.Contains(log.String(), "the value"); got != want {
			t.Errorf("at level %d, the log has the value: %t", level, got)
		}
	}
}

func TestReadiness_LeaseIsForbidden_IsNotReady(t *testing.T) {
	code := http.StatusForbidden
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	defer server.Close()
	p, _ := newProcess(t)
	for _, code = range []int{http.StatusForbidden, http.StatusNotFound} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/apis/coordination.k8s.io/v1/namespaces/ns/leases/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := (&transport{http.DefaultTransport, p}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if read := p.leases.Load(); read != (code == http.StatusNotFound) {
			t.Errorf("after status %d a lease has been read: %t", code, read)
		}
	}
}
