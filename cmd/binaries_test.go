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
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// badValues has, for each variable of the binaries, values that must stop the start.
var badValues = map[string][]string{
	"SYSTEM_NAMESPACE":        {"", "Not_A_Namespace"},
	"POD_NAME":                nil, // only shown to people; anything goes
	"POD_UID":                 nil,
	"GOMEMLIMIT":              nil, // the Go runtime rejects it before main
	"WATCH_NAMESPACE":         {"Not_A_Namespace", "two,namespaces"},
	"HEALTH_PORT":             {"", "0", "http"},
	"PROFILING_PORT":          {"", "65536"},
	"METRICS_PROMETHEUS_PORT": {"", "-1"},
	"KO_DATA_PATH":            nil, // any folder may be given, and it is read after the connection to the API server
	"WORKERS":                 {"", "0", "many"},
	"WEBHOOK_NAME":            {"", "a.b"},
	"WEBHOOK_PORT":            {"", "https"},
	"WEBHOOK_SECRET_NAME":     {"", "a/b"},
	"WEBHOOK_GRACE_PERIOD":    {"", "5", "-5s"},
	"CONFIDENTIAL_KINDS":      {"vaults", "Vault.example.com,/"},
	"METRIC_PREFIX":           {"1_", "shop-"},
}

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
	for _, name := range deployed() {
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
	for _, name := range deployed() {
		binaries[name] = filepath.Join(binDir, name)
	}
	if len(binaries) == 0 {
		t.Fatal("config/ deploys no program of cmd/")
	}
	return binaries
}

// deployed returns the programs that have a Deployment in config/.
func deployed() (names []string) {
	folders, _ := filepath.Glob("*/kodata") // it fails for a wrong pattern only
	for _, folder := range folders {
		name := filepath.Dir(folder)
		if _, err := os.Stat(filepath.Join("../config", name+".yaml")); err == nil {
			names = append(names, name)
		}
	}
	return names
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

var variableInHelp = regexp.MustCompile(`(?m)^  ([A-Z][A-Z_]+) +\S`)

func variablesOf(t *testing.T, binary string) []string {
	t.Helper()
	code, help := run(t, binary, nil, "--help")
	if code != 0 {
		t.Fatalf("--help exits with %d:\n%s", code, help)
	}
	var variables []string
	for _, match := range variableInHelp.FindAllStringSubmatch(help, -1) {
		variables = append(variables, match[1])
	}
	return variables
}

func TestBinaries_InvalidSettings_ExitWithOneLine(t *testing.T) {
	for name, binary := range build(t) {
		t.Run(name, func(t *testing.T) {
			variables := variablesOf(t, binary)
			if len(variables) < 5 {
				t.Fatalf("--help lists only %q", variables)
			}
			for _, variable := range variables {
				bad, ok := badValues[variable]
				if !ok {
					t.Errorf("badValues lacks %s", variable)
				}
				for _, value := range bad {
					code, stderr := run(t, binary, []string{"SYSTEM_NAMESPACE=ns", variable + "=" + value})
					want := fmt.Sprintf("%s: environment variable %s=%q: must be ", name, variable, value)
					if code != 1 || !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 1 {
						t.Errorf("%s=%q exits with %d and says %q, want 1 and one line beginning with %q", variable, value, code, stderr, want)
					}
				}
			}
			code, stderr := run(t, binary, nil)
			if code != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "SYSTEM_NAMESPACE") {
				t.Errorf("without any variable it exits with %d and says %q", code, stderr)
			}
		})
	}
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
		env := []string{"SYSTEM_NAMESPACE=ns", "KUBECONFIG=" + kubeconfig}
		for _, variable := range []string{"HEALTH_PORT", "PROFILING_PORT", "WEBHOOK_PORT"} {
			if variable == taken.variable {
				env = append(env, variable+"="+port)
			} else {
				env = append(env, variable+"="+freePort(t))
			}
		}
		code, stderr := run(t, binaries[taken.name], env)
		want := taken.name + ": environment variable " + taken.variable + "=" + port + ": "
		if code != 1 || !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s exits with %d and says %q, want 1 and one line with %q", taken.name, code, stderr, want)
		}
	}
}

// config/ says of the variables that it sets that --help describes each.
func TestDeployments_EnvironmentVariables_AreDescribedInHelp(t *testing.T) {
	for name, binary := range build(t) {
		content, err := os.ReadFile("../config/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		var deployment appsv1.Deployment
		if err := yaml.UnmarshalStrict(content, &deployment); err != nil {
			t.Fatalf("config/%s.yaml: %v", name, err)
		}
		variables := variablesOf(t, binary)
		env := []string{"SYSTEM_NAMESPACE=ns", "KUBECONFIG=/nowhere"}
		for _, v := range deployment.Spec.Template.Spec.Containers[0].Env {
			if !slices.Contains(variables, v.Name) {
				t.Errorf("config/%s.yaml sets %s, which %s --help does not describe", name, v.Name, name)
			}
			if v.ValueFrom == nil {
				env = append(env, v.Name+"="+v.Value)
			}
		}
		if code, stderr := run(t, binary, env); code != 1 || !strings.Contains(stderr, "kubeconfig") {
			t.Errorf("with the values of config/%s.yaml it exits with %d and says %q, want it to get as far as its kubeconfig", name, code, stderr)
		}
	}
}
