/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// conflicts is an API server that has one ConfigMap and answers each patch with a conflict. It notes when.
type conflicts struct{ patches []time.Time }

// RoundTrip implements http.RoundTripper.
func (c *conflicts) RoundTrip(request *http.Request) (*http.Response, error) {
	code, body := http.StatusOK, map[string]string{
		"/api":                               `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis":                              `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1":                            `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["get","patch"]}]}`,
		"/api/v1/namespaces/ns/configmaps/a": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"ns","name":"a","uid":"u","resourceVersion":"1"}}`,
	}[request.URL.Path]
	if request.Method == http.MethodPatch {
		c.patches = append(c.patches, time.Now())
		code, body = http.StatusConflict, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409}`
	}
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: request,
	}, nil
}

// patching returns a function that patches the ConfigMap.
func (c *conflicts) patching(t *testing.T, backoff wait.Backoff) func(context.Context) error {
	t.Helper()
	client, err := New(&rest.Config{Transport: c}, Options{FieldManager: "test", Backoff: backoff})
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) error {
		_, err := client.Run(ctx, FilterPatch(Ref{Namespace: "ns", Name: "a"}, func(configMap *corev1.ConfigMap) error {
			configMap.Data = map[string]string{"k": "1"}
			return nil
		}))
		return err
	}
}

func TestT27_FilterPatch_ConflictForever_DelaysGrowUpToTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var server conflicts
		err := server.patching(t, DefaultBackoff)(t.Context())
		if failed, ok := errors.AsType[*Error](err); !ok || failed.Class != Conflict || failed.Attempts != DefaultBackoff.Steps || len(server.patches) != failed.Attempts {
			t.Fatalf("after %d patches: %v", len(server.patches), err)
		}
		// At random, each delay is up to twice the one without jitter.
		exact, last := DefaultBackoff, time.Duration(0)
		exact.Jitter = 0
		for i := range server.patches[1:] {
			least, delay := exact.Step(), server.patches[i+1].Sub(server.patches[i])
			if delay < least || delay > 2*least {
				t.Errorf("delay %d is %s, want %s to %s", i+1, delay, least, 2*least)
			}
			if least < last || least == last && least != DefaultBackoff.Cap {
				t.Errorf("delay %d does not grow: %s after %s", i+1, least, last)
			}
			last = least
		}
	})
}

func TestT27_FilterPatch_ContextEndsDuringADelay_StopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var server conflicts
		run, ended := server.patching(t, wait.Backoff{Duration: time.Hour, Steps: 5}), make(chan error)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- run(ctx) }()
		synctest.Wait()
		canceled := time.Now()
		cancel()
		if err := <-ended; ClassOf(err) != Canceled || len(server.patches) != 1 {
			t.Errorf("after %d patches: %v", len(server.patches), err)
		}
		if took := time.Since(canceled); took > 100*time.Millisecond {
			t.Errorf("it stopped after %s", took)
		}
	})
}

func TestNew_ConfigWithoutLimit_DelaysNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := New(&rest.Config{Transport: roundTrip(func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPatch {
				return answer(request, http.StatusOK, nil, []byte(`{"apiVersion":"v1","kind":"Pod"}`)), nil
			}
			encoded, err := json.Marshal(served(request))
			return answer(request, http.StatusOK, nil, encoded), err
		})}, Options{FieldManager: "test"})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 50 {
			if _, err := client.Run(t.Context(), MergePatch(Ref{Kind: "Pod", Namespace: "ns", Name: "a"}, `{"spec":{"nodeName":"n"}}`)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("50 patches were delayed by %s", took)
		}
	})
}
