/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// binDir is the folder of the binaries, which are built, once for all tests.
var binDir string

func TestMain(m *testing.M) {
	var err error
	if binDir, err = os.MkdirTemp("", "mallard-process-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(binDir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

var buildOnce = sync.OnceValues(func() ([]byte, error) {
	flags, err := koFlags()
	if err != nil {
		return nil, err
	}
	arguments := slices.Concat([]string{"build"}, flags, []string{"-o", binDir})
	for name := range deployed() {
		arguments = append(arguments, "./"+name)
	}
	return exec.Command("go", arguments...).CombinedOutput()
})

// build builds the binaries of cmd/ and returns them by name.
func build(t *testing.T) map[string]string {
	t.Helper()
	if out, err := buildOnce(); err != nil {
		t.Fatalf("building the binaries: %v\n%s", err, out)
	}
	binaries := map[string]string{}
	for name := range deployed() {
		binaries[name] = filepath.Join(binDir, name)
	}
	if len(binaries) == 0 {
		t.Fatal("no program of cmd/ is deployed")
	}
	return binaries
}

// deployed returns the paths of the Deployments in config/ and in overlays by the program that each runs.
func deployed() map[string]string {
	paths := map[string]string{}
	folders, _ := filepath.Glob("*/kodata") // it fails for a wrong pattern only
	for _, folder := range folders {
		name := filepath.Dir(folder)
		manifests, _ := filepath.Glob("../kustomize/overlays/*/" + name + ".yaml")
		for _, path := range append(manifests, "../config/"+name+".yaml") {
			if _, err := os.Stat(path); err == nil {
				paths[name] = path
			}
		}
	}
	return paths
}

// run runs a binary with nothing but these variables in its environment. It must
// end by itself within a minute.
func run(t *testing.T, binary string, env []string, args ...string) (code int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append([]string{"HOME=" + t.TempDir()}, env...), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		t.Fatalf("running %s: %v\n%s", binary, err, errs.String())
	}
	if out.Len() > 0 {
		t.Errorf("%s writes to standard output: %s", binary, out.String())
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}

// freePort returns an unused port.
func freePort(t *testing.T) string {
	t.Helper()
	listener, port := listen(t)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

// listen takes a port.
func listen(t *testing.T) (net.Listener, string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return listener, port
}

func TestBinaries_PortInUse_NameThePort(t *testing.T) {
	listener, port := listen(t)
	defer func() { _ = listener.Close() }()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],` +
		`"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}]}`
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	binaries := build(t)
	for _, taken := range []struct{ name, variable string }{
		{"controller", "HEALTH_PORT"},
		{"controller", "PROFILING_PORT"},
		{"webhook", "HEALTH_PORT"},
		{"webhook", "PROFILING_PORT"},
		{"webhook", "WEBHOOK_PORT"},
	} {
		env := []string{"SYSTEM_NAMESPACE=ns", "WEBHOOK_NAME=webhook", "KUBECONFIG=" + kubeconfig}
		for _, variable := range []string{"HEALTH_PORT", "PROFILING_PORT", "WEBHOOK_PORT"} {
			if variable == taken.variable {
				env = append(env, variable+"="+port)
			} else {
				env = append(env, variable+"="+freePort(t))
			}
		}
		code, stderr := run(t, binaries[taken.name], env)
		want := "environment variable " + taken.variable + "=" + port + ": "
		if code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%s exits with %d and says %q, want 1 and %q", taken.name, code, stderr, want)
		}
	}
}

// The page describes the variables that Deployments set.
func TestDeployments_EnvironmentVariables_AreOnThePage(t *testing.T) {
	text, err := os.ReadFile("../" + page)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range deployed() {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var deployment appsv1.Deployment
		if err := yaml.UnmarshalStrict(content, &deployment); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, v := range deployment.Spec.Template.Spec.Containers[0].Env {
			if !strings.Contains(string(text), "`"+v.Name+"`") {
				t.Errorf("%s sets %s, which %s does not describe", path, v.Name, page)
			}
		}
	}
}
