//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

var (
	scratchDeployment = harness.Ref{Resource: appsv1.SchemeGroupVersion.WithResource("deployments"), Namespace: "scratch", Name: "scratch"}
	scratchService    = harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("services"), Namespace: "scratch", Name: "scratch"}
	scratchSettings   = harness.Ref{Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Namespace: "scratch", Name: "settings"}
)

// about is the report of the program in testdata/program about itself.
type about struct {
	Args  []string `json:"args"`
	Env   []string `json:"env"`
	Dir   string   `json:"dir"`
	Child int      `json:"child"`
}

// ask sends a request to the process behind the Service scratch.
func ask(t *testing.T, env *harness.Env, method, path string, into any) {
	t.Helper()
	service := env.Await(t, scratchService, harness.Exists)
	_, address, ok := strings.Cut(service.GetAnnotations()[processes.EndpointsAnnotation], "80=")
	if !ok {
		t.Fatalf("the Service has annotations %v, want the address of port 80", service.GetAnnotations())
	}
	target, err := url.Parse("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, target.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if into == nil {
		// A process that exits on request does not answer.
		if err == nil {
			_ = response.Body.Close()
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

func readyReplicas(want int64) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if got, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas"); got != want {
			return errors.New("another number of ready replicas")
		}
		return nil
	}
}

var (
	available   = harness.HasCondition("Available", "True", "MinimumReplicasAvailable")
	unavailable = harness.HasCondition("Available", "False", "MinimumReplicasUnavailable")
)

// awaitExit returns the notices of processes that have ended unasked, once there are any.
func awaitExit(t *testing.T, env *harness.Env) (exits []error) {
	t.Helper()
	harness.Eventually(t, "a process ends unasked", func(context.Context) error {
		if exits = env.TakeExits(); len(exits) == 0 {
			return errors.New("there is no notice")
		}
		return nil
	})
	return exits
}

// scratchConfig returns the option of an environment with the process scratch, whose Secret has the word.
func scratchConfig(t *testing.T, word string) harness.Option {
	t.Helper()
	content, err := os.ReadFile("testdata/config/100-scratch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	content = bytes.ReplaceAll(content, []byte("$WORD"), []byte(word))
	if err := os.WriteFile(filepath.Join(dir, "100-scratch.yaml"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	return harness.WithConfig(dir)
}

// TestProcess_StopKillAndStart_AreObserved takes one process through its life.
func TestProcess_StopKillAndStart_AreObserved(t *testing.T) {
	t.Parallel()
	word := harness.Canary(t)
	env := harness.Own(t, scratchConfig(t, word))
	t.Run("is given what its container declares", func(t *testing.T) { testDeclared(t, env, word) })
	t.Run("keeps the status of its Deployment honest", func(t *testing.T) { testStatus(t, env) })
	t.Run("reads its references again at each start, and its own environment wins", func(t *testing.T) { testReadAnew(t, env) })
	t.Run("is killed with its children", func(t *testing.T) { testKilledWithChildren(t, env) })
	t.Run("is killed when it does not stop", func(t *testing.T) { testStubborn(t, env) })
	t.Run("gives notice when it ends unasked", func(t *testing.T) { testExitNotice(t, env) })
	t.Run("that cannot start says why", func(t *testing.T) { testCannotStart(t, env) })
}

func testDeclared(t *testing.T, env *harness.Env, word string) {
	t.Helper()
	var got about
	ask(t, env, http.MethodGet, "/about", &got)
	for _, want := range []string{"COLOR=green", "ALL_color=green", "WORD=" + word, "NAMESPACE=scratch", "POD=scratch-0", "HOME=" + got.Dir} {
		if !slices.Contains(got.Env, want) {
			t.Errorf("its environment lacks %s: %q", want, got.Env)
		}
	}
	if i := slices.IndexFunc(got.Env, func(v string) bool { return strings.HasPrefix(v, "PORT=") }); got.Env[i] == "PORT=8080" ||
		!slices.Equal(got.Args, []string{"--listen=" + strings.TrimPrefix(got.Env[i], "PORT="), "$(UNKNOWN)"}) {
		t.Errorf("got %s and arguments %q, want a local port in both", got.Env[i], got.Args)
	}
	for _, name := range []string{"ABSENT=", "GOPATH=", "KUBERNETES_SERVICE_HOST="} {
		if slices.ContainsFunc(got.Env, func(v string) bool { return strings.HasPrefix(v, name) }) {
			t.Errorf("its environment has %s: %q", name, got.Env)
		}
	}
}

func testStatus(t *testing.T, env *harness.Env) {
	t.Helper()
	env.Await(t, scratchDeployment, available, readyReplicas(1))
	env.Kubectl(t, "wait", "--for=condition=Available", "deployment/scratch", "-n", "scratch", "--timeout=10s")
	env.Kubectl(t, "rollout", "status", "deployment/scratch", "-n", "scratch", "--timeout=10s")
	ask(t, env, http.MethodPost, "/unready?is=true", nil)
	env.Await(t, scratchDeployment, unavailable, readyReplicas(0))
	ask(t, env, http.MethodPost, "/unready?is=false", nil)
	env.Await(t, scratchDeployment, available, readyReplicas(1))
}

func testReadAnew(t *testing.T, env *harness.Env) {
	t.Helper()
	process := env.Process(t, "scratch")
	env.Patch(t, scratchSettings, `{"data": {"color": "blue"}}`)
	process.SetEnv(map[string]string{"WORD": "please"})
	process.Restart(t)
	var got about
	ask(t, env, http.MethodGet, "/about", &got)
	if !slices.Contains(got.Env, "COLOR=blue") || !slices.Contains(got.Env, "WORD=please") {
		t.Errorf("after a restart: got %q, want the new values", got.Env)
	}
}

func testKilledWithChildren(t *testing.T, env *harness.Env) {
	t.Helper()
	process := env.Process(t, "scratch")
	var got about
	ask(t, env, http.MethodGet, "/about", &got)
	if err := syscall.Kill(got.Child, 0); err != nil {
		t.Fatalf("looking for its child: %v", err)
	}
	process.Kill(t)
	env.Await(t, scratchDeployment, unavailable, readyReplicas(0))
	harness.Eventually(t, "its child has exited", func(context.Context) error {
		if err := syscall.Kill(got.Child, 0); !errors.Is(err, syscall.ESRCH) {
			return errors.Join(errors.New("it still runs"), err)
		}
		return nil
	})
	if exits := env.TakeExits(); len(exits) > 0 {
		t.Errorf("a kill is requested, but got the notices %v", exits)
	}
	process.Start(t)
}

func testStubborn(t *testing.T, env *harness.Env) {
	t.Helper()
	process := env.Process(t, "scratch")
	process.SetEnv(map[string]string{"STUBBORN": "yes"})
	process.Restart(t)
	process.Stop(t)
	if process.PID() != 0 {
		t.Error("it still runs")
	}
	process.SetEnv(nil)
	process.Start(t)
}

func testExitNotice(t *testing.T, env *harness.Env) {
	t.Helper()
	ask(t, env, http.MethodPost, "/exit?code=3", nil)
	exits := awaitExit(t, env)
	env.Await(t, scratchDeployment, unavailable)
	var exit *processes.ExitError
	if !errors.As(exits[0], &exit) || !strings.Contains(exit.Error(), "process scratch has ended: exit status 3") ||
		!slices.Contains(exit.Lines, "these are my last words") {
		t.Errorf("got the notice %v, want one with its exit status and last words", exits[0])
	}
}

func testCannotStart(t *testing.T, env *harness.Env) {
	t.Helper()
	process := env.Process(t, "scratch")
	process.SetEnv(map[string]string{"PORT": "none"})
	var exit *processes.ExitError
	if err := process.TryStart(t); !errors.As(err, &exit) {
		t.Errorf("got error %v, want its end", err)
	}
	awaitExit(t, env)
	process.SetEnv(nil)
	env.Patch(t, scratchDeployment, `{"spec": {"template": {"spec": {"containers": [{"name": "scratch", "image": "ko://github.com/mallard-dev/mallard/test/harness/testdata/program",
		"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "missing", "key": "nothing"}}}]}]}}}}`)
	if err := process.TryStart(t); err == nil || !strings.Contains(err.Error(), `containers[0].env[0] (A): reading secret scratch/missing`) {
		t.Errorf("got error %v, want one that names the field and the secret", err)
	}
}

func TestProcess_Replicas_AreCounted(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, scratchConfig(t, harness.Canary(t)), harness.WithReplicas("scratch", 2))
	env.Await(t, scratchDeployment, available, readyReplicas(2))
	var first, second about
	ask(t, env, http.MethodGet, "/about", &first)
	env.Process(t, "scratch").Kill(t)
	env.Await(t, scratchDeployment, unavailable, readyReplicas(1))
	ask(t, env, http.MethodGet, "/about", &second)
	if !slices.Contains(first.Env, "POD=scratch-0") || !slices.Contains(second.Env, "POD=scratch-1") {
		t.Errorf("the Service led to %q and then to %q, want the first process and, once that has exited, the second", first.Env, second.Env)
	}
}
