/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"
)

func TestPorts_CannotBeListenedOn_EndTheStart(t *testing.T) {
	if port := os.Getenv("HARDENING_TEST_PORT"); port != "" {
		n, _ := strconv.Atoi(port)
		ctx := webhook.WithOptions(t.Context(), webhook.Options{Port: n})
		checkPorts(ctx)
		return
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	taken, free := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port), strconv.Itoa(freePort(t))
	for name, tc := range map[string]struct{ webhook, profiling, want string }{
		"taken":                    {taken, free, "WEBHOOK_PORT=" + taken + ": listen tcp"},
		"invalid":                  {"70000", free, "WEBHOOK_PORT=70000: listen tcp: address 70000: invalid port"},
		"invalid, of the profiler": {"0", "70000", "PROFILING_PORT=70000: listen tcp: address 70000: invalid port"},
	} {
		code, output := again(t, "HARDENING_TEST_PORT="+tc.webhook, "PROFILING_PORT="+tc.profiling, "WEBHOOK_PORT="+free) // which the main does not read
		if code != 1 || !strings.Contains(output, "environment variable "+tc.want) {
			t.Errorf("%s: the other process ended with %d and %s", name, code, output)
		}
	}
}

// The API server has an empty list of ConfigMaps, and nothing else. The profiling port is taken.
func TestUpstream_Sharedmain_PortIsTaken_RunsOnAndExitsWithZero(t *testing.T) {
	if host := os.Getenv("HARDENING_TEST_HOST"); host != "" {
		isolated := reflect.New(reflect.TypeOf(injection.Default).Elem()).Interface().(injection.Interface)
		for _, client := range injection.Default.GetClients() {
			isolated.RegisterClient(client)
		}
		injection.Default = isolated
		ctx, terminate := context.WithCancel(sharedmain.WithHADisabled(t.Context()))
		sharedmain.MainWithConfig(ctx, "test", &rest.Config{Host: host}, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
			impl := newImpl(ctx, reconcileFunc(func(ctx context.Context, _ string) error {
				logging.FromContext(ctx).Info("It runs on")
				terminate()
				return nil
			}))
			impl.EnqueueKey(one)
			return impl
		})
		return
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/version":
			_, _ = io.WriteString(w, `{"gitVersion":"v1.99.0"}`)
		case !strings.HasSuffix(r.URL.Path, "/configmaps"):
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Has("watch"):
			w.WriteHeader(http.StatusBadRequest)
		default:
			_, _ = io.WriteString(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"}}`)
		}
	}))
	defer api.Close()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	code, output := again(t, "HARDENING_TEST_HOST="+api.URL, "PROFILING_PORT="+port, ProbesVariable+"="+strconv.Itoa(freePort(t)))
	for _, want := range []string{"It runs on", "Error while running server", "listen tcp :" + port, "Probes server listening on port 8080"} {
		if code != 0 || !strings.Contains(output, want) {
			t.Errorf("sharedmain ends with %d, want 0, and the log\n%s\nwant: %s", code, output, want)
		}
	}
}

func TestExit_PartHasFailed_ExitsWithOne(t *testing.T) {
	if state := os.Getenv("HARDENING_TEST_SIGNAL"); state != "" {
		signal, terminate := context.WithCancel(t.Context())
		install().signal = signal
		if state == "ended" {
			terminate()
		}
		Exit()
		terminate()
		return
	}
	for state, want := range map[string]int{"ended": 0, "not ended": 1} {
		code, output := again(t, "HARDENING_TEST_SIGNAL="+state)
		if returned := strings.Contains(output, "PASS"); code != want || returned != (want == 0) {
			t.Errorf("with a signal that has %s, it exits with %d, want %d: %s", state, code, want, output)
		}
	}
}

// again runs the test in another process, and returns the exit code and the output.
func again(t *testing.T, environment ...string) (code int, output string) {
	t.Helper()
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	other.Env = append(os.Environ(), environment...)
	written, _ := other.CombinedOutput()
	return other.ProcessState.ExitCode(), string(written)
}
