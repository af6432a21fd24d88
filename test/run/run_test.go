//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// interrupted is the exit status of a run that Ctrl-C has ended.
const interrupted = 0

// running is printed once the samples are applied and followed.
var running = []string{"export KUBECONFIG=", "addressableservice/hello  READY=True"}

// deadProxy has programs use a proxy that does not answer for all but this machine, as a company's proxy reaches nothing inside of a cluster.
var deadProxy = []string{"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9"}

func TestRun_Samples_BecomeReady(t *testing.T) {
	t.Parallel()
	p := start(t, deadProxy, "--wait=ready")
	if status := p.exit(); status != 0 {
		t.Fatalf("got exit status %d, want 0", status)
	}
	for _, line := range []string{
		"✓ Control plane built", "✓ Control plane started", "✓ Operator built", "✓ Applied config/ ", "✓ Operator ready", "✓ Applied samples/ ",
		"addressableservice/hello  READY=True  REASON=-  URL=http://hello.default.svc.cluster.local",
		"addressableservice/hello-public  READY=True", "addressableservice/hello-published  READY=True",
		"✓ Ready: 5 samples", "✓ Stopped",
	} {
		if !strings.Contains(p.text(), line) {
			t.Errorf("it did not print %q", line)
		}
	}
	p.leavesNothing()
}

func TestRun_SecondInstance_RunsNextToTheFirst(t *testing.T) {
	t.Parallel()
	first := start(t, nil)
	first.await(running...)
	second := start(t, nil, "--wait=ready")
	if status := second.exit(); status != 0 {
		t.Errorf("the second: got exit status %d, want 0", status)
	}
	second.leavesNothing()
	if strings.Contains(first.text(), "!") {
		t.Error("the first was disturbed by the second")
	}
	first.signal(syscall.SIGINT)
	if status := first.exit(); status != interrupted {
		t.Errorf("the first: got exit status %d, want %d", status, interrupted)
	}
	first.leavesNothing()
}

func TestRun_Interrupt_StopsCleanly(t *testing.T) {
	t.Parallel()
	for name, phase := range map[string]struct {
		lines []string
		env   []string
	}{
		// With an empty build cache there is something to interrupt.
		"Building":         {lines: []string{"Building the operator"}, env: []string{"GOCACHE=" + t.TempDir()}},
		"StartingCluster":  {lines: []string{"Starting the control plane"}},
		"Applying":         {lines: []string{"Applying config/"}},
		"StartingOperator": {lines: []string{"Starting the operator"}},
		"ApplyingSamples":  {lines: []string{"Applying samples/"}},
		"Running":          {lines: running},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, phase.env)
			p.await(phase.lines...)
			p.signal(syscall.SIGINT)
			if status := p.exit(); status != interrupted {
				t.Errorf("got exit status %d, want %d", status, interrupted)
			}
			p.leavesNothing()
		})
	}
	// A lock that one of them had left would keep this one waiting.
	if status := start(t, nil, "--wait=ready").exit(); status != 0 {
		t.Errorf("the run after them: got exit status %d, want 0", status)
	}
}

func TestRun_SecondInterrupt_EndsAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	p.await(running...)
	// An orderly stop waits for a control plane that does not end.
	p.freeze("localcluster up")
	p.signal(syscall.SIGINT)
	p.await("Stopping")
	p.signal(syscall.SIGINT)
	began := time.Now()
	if status := p.exit(); status != interrupted {
		t.Errorf("got exit status %d, want %d", status, interrupted)
	}
	if took := time.Since(began); took >= controlplane.StopTimeout {
		t.Errorf("it ended after %v, as late as with one interrupt", took)
	}
	p.leavesNothing()
}

func TestRun_SIGTERM_StopsCleanly(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	p.await(running...)
	p.signal(syscall.SIGTERM)
	if status := p.exit(); status != 128+int(syscall.SIGTERM) {
		t.Errorf("got exit status %d, want %d", status, 128+int(syscall.SIGTERM))
	}
	p.leavesNothing()
}

// Make passes SIGTERM on to the process of the recipe only.
func TestMakeRun_SIGTERMInTheBackground_StopsCleanly(t *testing.T) {
	t.Parallel()
	p := startCommand(t, []string{"MAKEFLAGS=", "MAKELEVEL="}, "make", "run")
	p.await(running...)
	p.signal(syscall.SIGTERM)
	if status := p.exit(); status != -1 {
		t.Errorf("got exit status %d, want -1 for an end by a signal", status)
	}
	p.await("✓ Stopped")
	p.leavesNothing()
}

func TestRun_SampleCannotBecomeReady_IsExplained(t *testing.T) {
	t.Parallel()
	samples := t.TempDir()
	write(t, filepath.Join(samples, "lost.yaml"), `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: lost, namespace: default}
spec:
  ref: {apiVersion: v1, kind: Service, name: missing}
`)
	p := start(t, nil, "--wait=ready", "--timeout=3s", "--samples="+samples)
	if status := p.exit(); status != 1 {
		t.Errorf("got exit status %d, want 1", status)
	}
	for _, text := range []string{
		"1 of 1 samples not Ready within 3s", "addressableservice default/lost\n",
		"condition Ready=False", "reason TargetNotFound", "process controller (ready), last lines:\n  | ", "default/lost",
	} {
		if !strings.Contains(p.text(), text) {
			t.Errorf("it did not print %q", text)
		}
	}
	p.leavesLogsOf("controller", "webhook")
}

func TestRun_ProcessDies_IsReported(t *testing.T) {
	t.Parallel()
	config := copyConfig(t)
	replace(t, filepath.Join(config, "controller.yaml"), "name: K_THREADS_PER_CONTROLLER\n              value: \"8\"", "name: K_THREADS_PER_CONTROLLER\n              value: \"none\"")
	p := start(t, nil, "--config="+config)
	if status := p.exit(); status != 1 {
		t.Errorf("got exit status %d, want 1", status)
	}
	for _, text := range []string{"process controller has ended: exit status 1", "its last lines:\n  | ", "K_THREADS_PER_CONTROLLER", "the logs are in "} {
		if !strings.Contains(p.text(), text) {
			t.Errorf("it did not print %q", text)
		}
	}
	p.leavesLogsOf("controller", "webhook")
}

// notPermitted is a configuration in which the controller is not allowed to list what it reconciles, so that it never is ready.
func notPermitted(t *testing.T) string {
	t.Helper()
	config := copyConfig(t)
	replace(t, filepath.Join(config, "200-simpledeployment-roles.yaml"), `status update that met a conflict.
  - apiGroups: ["samples.knative.dev"]
    resources: ["simpledeployments"]
    verbs: ["get", "list", "watch"]`, `
  - apiGroups: ["samples.knative.dev"]
    resources: ["simpledeployments"]
    verbs: ["get"]`)
	replace(t, filepath.Join(config, "200-simpledeployment-roles.yaml"), `resources: ["simpledeployments"]
    verbs: ["list", "watch", "patch"]`, `resources: ["simpledeployments"]
    verbs: ["patch"]`)
	return config
}

func TestRun_ProcessNotReady_EndsWithItsErrorsAndKeepsLogs(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--config="+notPermitted(t), "--start-timeout=20s")
	if status := p.exit(); status != 1 {
		t.Errorf("got exit status %d, want 1", status)
	}
	for _, text := range []string{
		"process controller is not ready: it took longer than 20s", "its last errors and last lines:\n  | ", "cannot list resource \\\"simpledeployments\\\"", "the logs are in ",
	} {
		if !strings.Contains(p.text(), text) {
			t.Errorf("it did not print %q", text)
		}
	}
	p.leavesLogsOf("controller", "webhook")
}

func TestRun_InterruptWhileProcessNotReady_PrintsItsErrors(t *testing.T) {
	t.Parallel()
	p := start(t, nil, "--config="+notPermitted(t))
	p.await("Starting the operator")
	harness.Eventually(t, "the log of the controller says what is forbidden", func(context.Context) error {
		logs, err := filepath.Glob(filepath.Join(p.temp, "mallard-run-*", "processes", "controller.log"))
		if err != nil || len(logs) != 1 {
			return fmt.Errorf("there are %d logs: %w", len(logs), err)
		}
		content, err := os.ReadFile(logs[0])
		if err == nil && !strings.Contains(string(content), "cannot list resource") {
			err = errors.New("it does not")
		}
		return err
	})
	p.signal(syscall.SIGINT)
	if status := p.exit(); status != interrupted {
		t.Errorf("got exit status %d, want %d", status, interrupted)
	}
	if text := "cannot list resource"; !strings.Contains(p.text(), text) {
		t.Errorf("it did not print %q", text)
	}
	p.leavesNothing()
}

func TestRun_InvalidInput_IsRejected(t *testing.T) {
	t.Parallel()
	broken := copyConfig(t)
	write(t, filepath.Join(broken, "100-namespace.yaml"), "kind: [")
	commanded := copyConfig(t)
	replace(t, filepath.Join(commanded, "webhook.yaml"), "image: ko", "command: [sh]\n          image: ko")
	foreign := t.TempDir()
	write(t, filepath.Join(foreign, "a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	for name, test := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"Config":    {[]string{"--config=" + broken, "--samples=samples"}, 1, "100-namespace.yaml: document 1: "},
		"NoConfig":  {[]string{"--config=/nonexistent"}, 1, "/nonexistent"},
		"Field":     {[]string{"--config=" + commanded}, 1, "spec.template.spec.containers[0].command: Forbidden"},
		"NoSamples": {[]string{"--samples=" + t.TempDir()}, 1, "holds no manifest"},
		"Foreign":   {[]string{"--samples=" + foreign}, 1, "holds no object of a kind that the configuration defines"},
		"Flag":      {[]string{"--nonsense"}, 2, "nonsense"},
		"Wait":      {[]string{"--wait=forever"}, 2, "--wait=forever: the only thing to wait for is ready"},
		"Via":       {[]string{"--via=docker"}, 2, "--via=docker: the only other way to run the operator is ko"},
		"Versions":  {[]string{"--versions=v1"}, 2, "--versions=v1: must be all, or be left out"},
		"Overlay":   {[]string{"--config=config", "--config=kustomize/overlays/ha"}, 1, "ha/kustomization.yaml: document 1: a Kustomization changes manifests"},
		"Timeout":   {[]string{"--timeout=0s"}, 2, "--timeout=0s: must be more than 0"},
		"Argument":  {[]string{"ready"}, 2, "only flags are known"},
		"Command":   {[]string{"--"}, 2, "--: must be followed by a command to run"},
		"Samples":   {[]string{"--wait=ready", "--", "true"}, 2, "--wait and --samples: a command runs instead of the samples"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, nil, test.args...)
			if status := p.exit(); status != test.status {
				t.Errorf("got exit status %d, want %d", status, test.status)
			}
			if !strings.Contains(p.text(), test.want) {
				t.Errorf("it did not print %q", test.want)
			}
			p.leavesNothing()
		})
	}
}

// copyConfig copies config.
func copyConfig(t *testing.T) string {
	t.Helper()
	module, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(module, "config"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, path, before, after string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), before) {
		t.Fatalf("%s does not hold %q", path, before)
	}
	write(t, path, strings.Replace(string(content), before, after, 1))
}
