/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

func TestReadiness_Missing_IsNamed(t *testing.T) {
	r := &Readiness{}
	for _, step := range []struct {
		name  string
		holds bool
		want  string
	}{
		{name: "no certificate", holds: true, want: ""},
		{name: "no cache", holds: false, want: "not ready: no cache"},
		{name: "no certificate", holds: false, want: "not ready: no cache, no certificate"},
		{name: "no certificate", holds: false, want: "not ready: no cache, no certificate"},
		{name: "no cache", holds: true, want: "not ready: no certificate"},
		{name: "no certificate", holds: true, want: ""},
	} {
		r.Set(step.name, step.holds)
		got := ""
		if err := r.Check(); err != nil {
			got = err.Error()
		}
		if got != step.want {
			t.Errorf("after Set(%q, %t) the probe says %q, want %q", step.name, step.holds, got, step.want)
		}
	}
}

func TestReadiness_NothingRegistered_IsReady(t *testing.T) {
	if err := (&Readiness{}).Check(); err != nil {
		t.Error(err)
	}
	first := ReadinessFrom(t.Context())
	first.Set("missing", false)
	if err := ReadinessFrom(t.Context()).Check(); err != nil {
		t.Errorf("without a process one controller's readiness reaches another: %v", err)
	}
}

func TestReadiness_FromContext_IsShared(t *testing.T) {
	want := &Readiness{}
	if got := ReadinessFrom(context.WithValue(t.Context(), readinessKey{}, want)); got != want {
		t.Error("got another Readiness than the context's")
	}
}

func TestReadiness_ConcurrentUse_IsSafe(t *testing.T) {
	r := &Readiness{}
	var users sync.WaitGroup
	for range 20 {
		users.Go(func() {
			r.Set("x", false)
			_ = r.Check()
			r.Set("x", true)
		})
	}
	users.Wait()
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// probe is the status code and the text of a path of the probes.
func probe(t *testing.T, h http.Handler, method, path string) (int, string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return recorder.Code, recorder.Body.String()
}

func TestProbes_State_ReturnsTheStatusCode(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	missing := &Readiness{}
	missing.Set("no cache", false)

	for name, tc := range map[string]struct {
		reason       string
		ctx          context.Context //nolint:containedctx // the input of a case
		readiness    *Readiness
		method, path string
		code         int
		says         string
	}{
		"ready":            {"", t.Context(), &Readiness{}, http.MethodGet, "/readiness", http.StatusOK, ""},
		"healthy":          {"", t.Context(), &Readiness{}, http.MethodGet, "/health", http.StatusOK, ""},
		"not ready":        {"the probe says why", t.Context(), missing, http.MethodGet, "/readiness", http.StatusServiceUnavailable, "no cache"},
		"unready, healthy": {"a restart would not help", t.Context(), missing, http.MethodGet, "/health", http.StatusOK, ""},
		"stopping":         {"it must get no new work", stopped, &Readiness{}, http.MethodGet, "/readiness", http.StatusServiceUnavailable, "stopping"},
		"stopping healthy": {"it must get time to end", stopped, &Readiness{}, http.MethodGet, "/health", http.StatusOK, ""},
		"other path":       {"", t.Context(), &Readiness{}, http.MethodGet, "/", http.StatusNotFound, ""},
		"other method":     {"", t.Context(), &Readiness{}, http.MethodPost, "/health", http.StatusMethodNotAllowed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			code, text := probe(t, probes(tc.ctx, tc.readiness), tc.method, tc.path)
			if code != tc.code || !strings.Contains(text, tc.says) {
				t.Errorf("%s %s answers %d %q, want %d with %q: %s", tc.method, tc.path, code, text, tc.code, tc.says, tc.reason)
			}
		})
	}
}
