/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
)

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

// serveProbes serves the probes of a process, and returns what answers with the status and the body of a path, and what SIGTERM does.
func serveProbes(ctx context.Context, t *testing.T, p *process) (get func(path string) (int, string), terminate func()) {
	t.Helper()
	signal, terminate := context.WithCancel(t.Context())
	port := strconv.Itoa(freePort(t))
	t.Setenv(ProbesVariable, port)
	_, serve := p.withProbes(ctx, signal, nil)
	serve()
	return func(path string) (code int, body string) {
		eventually(t, "probes are served", func() bool {
			response, err := http.Get("http://127.0.0.1:" + port + path) //nolint:noctx // ends with the test
			if err == nil {
				content, _ := io.ReadAll(response.Body)
				_ = response.Body.Close()
				code, body = response.StatusCode, string(content)
			}
			return err == nil
		})
		return code, body
	}, terminate
}

func TestProbes_ReadinessFollowsCachesAndSignal_HealthDoesNot(t *testing.T) {
	p, _ := newProcess(t)
	p.running.Store(false)
	p.constructors.Store(1)
	p.informers.all.Store(p.wrap("Pod", cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil)), nil)
	get, terminate := serveProbes(t.Context(), t, p)
	if code, body := get("/readiness"); code != http.StatusServiceUnavailable || !strings.Contains(body, "not filled yet: Pod") {
		t.Errorf("readiness before the caches are filled: %d %s", code, body)
	}
	p.running.Store(true)
	if code, body := get("/readiness"); code != http.StatusServiceUnavailable || !strings.Contains(body, "not filled yet: Pod") {
		t.Errorf("readiness while they are: %d %s", code, body)
	}
	p.informers.all.Clear()
	if code, body := get("/readiness"); code != http.StatusServiceUnavailable || !strings.Contains(body, "no lease") {
		t.Errorf("readiness before a lease was read: %d %s", code, body)
	}
	p.leases.Store(true)
	if code, body := get("/readiness"); code != http.StatusOK {
		t.Errorf("readiness: %d %s", code, body)
	}
	terminate()
	ready, _ := get("/readiness")
	if health, _ := get("/health"); ready != http.StatusServiceUnavailable || health != http.StatusOK {
		t.Errorf("after SIGTERM: readiness %d, health %d", ready, health)
	}
}

func TestProbes_ProcessOfAStatefulSet_AwaitsNoLease(t *testing.T) {
	p, _ := newProcess(t)
	p.constructors.Store(1)
	t.Setenv("STATEFUL_CONTROLLER_ORDINAL", "0")
	get, _ := serveProbes(t.Context(), t, p)
	if code, body := get("/readiness"); code != http.StatusOK {
		t.Errorf("readiness: %d %s", code, body)
	}
}

func TestProbes_MainHasDisabledThem_NothingChanges(t *testing.T) {
	p, _ := newProcess(t)
	disabled := sharedmain.WithHealthProbesDisabled(t.Context())
	if ctx, _ := p.withProbes(disabled, t.Context(), nil); ctx != disabled {
		t.Error("the context has changed")
	}
}

func TestUpstream_Probes_EndAtSIGTERM(t *testing.T) {
	ctx, terminate := context.WithCancel(t.Context())
	port, ended := freePort(t), make(chan error)
	go func() { ended <- injection.ServeHealthProbes(ctx, port) }()
	probe := func() error {
		response, err := http.Get("http://127.0.0.1:" + strconv.Itoa(port) + "/health") //nolint:noctx // ends with the test
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	eventually(t, "probes are served", func() bool { return probe() == nil })
	terminate()
	if err := errors.Join(<-ended, probe()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after SIGTERM, the probes answer %v", err)
	}
}

// The list of Pods hangs, as it does if a conversion webhook does not answer.
func TestUpstream_StartOfInformers_NamesNoKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hanging := &cache.ListWatch{ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) {
			<-ctx.Done()
			return &corev1.PodList{}, nil
		}}
		started, stop := time.Now(), make(chan struct{})
		time.AfterFunc(time.Hour, func() { close(stop) })
		err := controller.StartInformers(stop, cache.NewSharedIndexInformer(hanging, &corev1.Pod{}, 0, nil))
		if err == nil || strings.Contains(err.Error(), "Pod") || time.Since(started) < time.Hour {
			t.Errorf("the start ends after %v with %v", time.Since(started), err)
		}
	})
}

func TestProbes_MainServesThem_HasThePort(t *testing.T) {
	p, logs := newProcess(t)
	port := strconv.Itoa(freePort(t))
	t.Setenv(ProbesVariable, port)
	_, serve := p.withProbes(t.Context(), t.Context(), nil)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":"+port)
	if err != nil {
		t.Fatalf("a main that listens after the set-up finds its port taken: %v", err)
	}
	defer func() { _ = listener.Close() }()
	serve()
	eventually(t, "it is reported", func() bool { return logs.FilterLevelExact(zap.WarnLevel).Len() > 0 })
}

func TestProbes_HandlerOfTheMain_IsKept(t *testing.T) {
	p, _ := newProcess(t)
	own := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }
	get, _ := serveProbes(injection.AddReadiness(t.Context(), own), t, p)
	if code, _ := get("/readiness"); code != http.StatusTeapot {
		t.Errorf("status %d", code)
	}
}
