/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"knative.dev/pkg/apis/duck"
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/observability/runtime"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
)

func TestOff_Names_SwitchConcernsOff(t *testing.T) {
	off, err := parseOff(" tracker, tombstones,\n")
	if got := slices.Sorted(maps.Keys(off)); err != nil || !slices.Equal(got, []concern{tombstones, references}) {
		t.Errorf("parseOff() = %v, %v", got, err)
	}
}

func TestOff_UnknownName_IsAnErrorWithTheValidOnes(t *testing.T) {
	_, err := parseOff("trackers")
	if err == nil || !strings.Contains(err.Error(), `HARDENING_OFF: there is no concern "trackers"; there are: [limits panics`) {
		t.Errorf("error: %v", err)
	}
}

func TestSecrets_LevelsAtWhichBodiesAreLogged_AreErrors(t *testing.T) {
	for value, valid := range map[string]bool{
		"v=7": true, "v=8": false, "v=10": false, "vmodule=request=7": true, "vmodule=request=8,a=1": false, "vmodule=a=1,request=12": false,
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		name, level, _ := strings.Cut(value, "=")
		flags.String(name, level, "")
		if err := checkVerbosity(flags); (err == nil) != valid || err != nil && !strings.Contains(err.Error(), "flag --"+value+": must be at most 7") {
			t.Errorf("--%s: the error is %v", value, err)
		}
	}
}

// outcomes has for each concern a function, and what a process that calls it prints, or how it exits, with the concern and without it.
var outcomes = map[concern]struct {
	run           func(*testing.T) any
	with, without string
}{
	panics:     {fatalIsAnErrorOfTheObject, "true", "exit code 1"},
	backoff:    {reconciliationsOfAFailingObject, "1", "2"},
	ducks:      {factoryInAConstructor, "*hardening.factory", "*duck.CachedInformerFactory"},
	ports:      {startWithTakenPort, "exit code 1", "it runs on"},
	probes:     {readinessBeforeTheCaches, "503", "200"},
	requests:   {headersInTheLog, "0", "1"},
	configmaps: {startWithInvalidConfigMap, "exit code 1", "it runs on"},
}

func TestOff_OneConcern_ShowsItsFault(t *testing.T) {
	if name := os.Getenv("HARDENING_TEST_CONCERN"); name != "" {
		fmt.Println("outcome:", outcomes[concern(name)].run(t)) //nolint:forbidigo // for the test that started this process
		return
	}
	for of, tc := range outcomes {
		for off, want := range map[string]string{"": tc.with, string(of): tc.without} {
			code, output := again(t, "HARDENING_TEST_CONCERN="+string(of), Variable+"="+off, runtime.ProfilingPortEnvKey+"="+strconv.Itoa(freePort(t)))
			outcome := fmt.Sprintf("exit code %d", code)
			if _, printed, ok := strings.Cut(output, "outcome: "); ok {
				outcome, _, _ = strings.Cut(printed, "\n")
			}
			if outcome != want || strings.Contains(output, "--- FAIL") {
				t.Errorf("concern %s, %s=%q: %s, want %s:\n%s", of, Variable, off, outcome, want, output)
			}
		}
	}
}

func fatalIsAnErrorOfTheObject(t *testing.T) any {
	p := install()
	p.running.Store(true)
	impl := construct(t, p, func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		logger := logging.FromContext(ctx)
		return newImpl(ctx, reconcileFunc(func(context.Context, string) error { logger.Fatal("boom"); return nil }))
	})
	err := impl.Reconciler.Reconcile(t.Context(), one.String())
	return strings.Contains(fmt.Sprint(err), "panic while reconciling default/one: boom")
}

func reconciliationsOfAFailingObject(t *testing.T) any {
	count := 0
	impl := construct(t, install(), func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		return newImpl(ctx, reconcileFunc(func(context.Context, string) error { count++; return errors.New("down") }))
	})
	for range 2 { // two events
		_ = impl.Reconciler.Reconcile(t.Context(), one.String())
	}
	return count
}

func factoryInAConstructor(t *testing.T) any {
	type key struct{}
	var factory any
	ctx := context.WithValue(t.Context(), key{}, duck.InformerFactory(&duck.CachedInformerFactory{}))
	Constructor(func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		factory = ctx.Value(key{})
		return newImpl(ctx, reconcileFunc(func(context.Context, string) error { return nil }))
	})(ctx, configmap.NewStaticWatcher())
	return fmt.Sprintf("%T", factory)
}

// start begins a hardened process as sharedmain does.
func start(ctx context.Context, t *testing.T, host string) context.Context {
	t.Helper()
	install()
	ctx, _ = injection.Default.SetupInformers(filteredfactory.WithSelectors(ctx, "a=b"), &rest.Config{Host: host})
	return ctx
}

// nowhere is the address of an API server that does not run.
const nowhere = "http://127.0.0.1:1"

func startWithTakenPort(t *testing.T) any {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	t.Setenv(runtime.ProfilingPortEnvKey, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	start(t.Context(), t, nowhere)
	return "it runs on"
}

// The handler of package injection knows nothing of caches.
func readinessBeforeTheCaches(t *testing.T) any {
	port := freePort(t)
	t.Setenv(ProbesVariable, strconv.Itoa(port))
	if ctx := start(t.Context(), t, nowhere); ctx.Value(probesDisabled) == nil {
		go func() { _ = injection.ServeHealthProbes(ctx, port) }()
	}
	var status int
	eventually(t, "probes are served", func() bool {
		response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/readiness", port)) //nolint:noctx // ends with the test
		if err == nil {
			_ = response.Body.Close()
			status = response.StatusCode
		}
		return err == nil
	})
	return status
}

func headersInTheLog(t *testing.T) any {
	file := filepath.Join(t.TempDir(), "log")
	ctx := logging.WithConfig(webhook.WithOptions(t.Context(), webhook.Options{}), &logging.Config{
		LoggingConfig: `{"level":"info","encoding":"json","outputPaths":["` + file + `"],"encoderConfig":{"messageKey":"message"}}`,
	})
	logger, _ := logging.NewLoggerFromConfig(logging.GetConfig(start(ctx, t, nowhere)), "webhook")
	logger.Infof("Webhook ServeHTTP request=%#v", http.Header{"Authorization": {"Bearer secret"}})
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(written), "Bearer")
}

func startWithInvalidConfigMap(t *testing.T) any {
	path := "/api/v1/namespaces/" + system.Namespace() + "/configmaps/config-leader-election"
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"config-leader-election"},"data":{"buckets":"11"}}`)
	}))
	defer api.Close()
	start(t.Context(), t, api.URL)
	return "it runs on"
}
