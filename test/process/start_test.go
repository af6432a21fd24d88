//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// hardened are the processes whose main calls hardening.Constructors.
var hardened = []string{"controller", "webhook"}

// checkStartFails starts a process that has to end with the exit status 1, and to log all these parts.
func checkStartFails(t *testing.T, env *harness.Env, name string, parts ...string) {
	t.Helper()
	err := env.Process(t, name).TryStart(t)
	var exit *processes.ExitError
	if !errors.As(err, &exit) {
		t.Errorf("the %s: got error %v, want it to end", name, err)
		return
	}
	// The notice of the exit is delivered separately.
	if err := awaitExit(t, env); !errors.As(err, &exit) || exit.Process != name {
		t.Errorf("got the notice %v, want one of the %s", err, name)
	}
	if exit.Err == nil || !strings.Contains(exit.Err.Error(), "exit status 1") {
		t.Errorf("the %s ended with %v, want exit status 1", name, exit.Err)
	}
	for _, part := range parts {
		if lines := strings.Join(exit.Lines, "\n"); !strings.Contains(lines, part) {
			t.Errorf("the %s does not say %q, but: %s", name, part, lines)
		}
	}
}

func TestStart_InvalidConfigMap_IsNamed(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithOverlay("hooks"), harness.WithoutWebhooks("webhook"), harness.Without("controller"), harness.Without("hooks"))
	for _, bad := range []struct{ configMap, key, value, says string }{
		{"config-logging", "loglevel.controller", "chatty", `must be debug, info, warn, error, dpanic, panic or fatal, not "chatty"`},
		{"config-leader-election", "lease-duration", "10s", "must be longer than renew-deadline"},
		{"config-leader-election", "buckets", "0", `must be a whole number from 1 to 10 such as 2, not "0"`},
		{"config-leader-election", "lease-duration", "2h", `must be a duration of whole seconds from 3s to 1h such as 15s, not "2h"`},
		{"config-observability", "tracing-sampling-rate", "2", `must be a number from 0 to 1 such as 0.1, not "2"`},
		{"config-observability", "runtime-export-interval", "1ms", `must be a duration from 1s to 24h such as 15s, not "1ms"`},
		{"config-addressable", "scheme", "ftp", "must be http or https"},
	} {
		t.Run(bad.key+"="+bad.value, func(t *testing.T) {
			env.SetConfig(t, bad.configMap, map[string]string{bad.key: bad.value})
			processes := hardened
			switch bad.configMap {
			case "config-addressable": // which the process of hooks does not read
			case "config-leader-election": // in place of which the webhook has its own
				processes = []string{"controller", "hooks"}
			default:
				processes = append(slices.Clone(hardened), "hooks")
			}
			for _, process := range processes {
				checkStartFails(t, env, process, "ConfigMap "+bad.configMap+": "+bad.key+": "+bad.says)
			}
		})
	}
	// Each ConfigMap is as it was by now. A key of a later version is no reason not to start.
	for _, later := range []struct{ configMap, key, value, meant string }{
		{"config-logging", "loglevel.controler", "info", "loglevel.controller"},
		{"config-leader-election", "lease-durations", "20s", "lease-duration"},
		{"config-observability", "metric-protocol", "none", "metrics-protocol"},
		{"config-addressable", "domian", "example.org", "domain"},
	} {
		t.Run(later.key, func(t *testing.T) {
			env.SetConfig(t, later.configMap, map[string]string{later.key: later.value})
			controller := env.Process(t, "controller")
			controller.Start(t)
			defer controller.Stop(t)
			want := "ConfigMap " + later.configMap + ": " + later.key + ": unknown key (did you mean " + later.meant + "?); the keys are "
			if !strings.Contains(controller.Log(t), want) {
				t.Errorf("the controller does not say %q", want)
			}
		})
	}
}

func TestStart_LeasesOfTheWebhook_HaveTheirOwnConfigMap(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithoutWebhooks("webhook"), harness.Without("controller"))
	env.Apply(t, env.SystemNamespace, `{apiVersion: v1, kind: ConfigMap, metadata: {name: config-leader-election-webhook}, data: {lease-duration: 10s}}`)
	checkStartFails(t, env, "webhook", "ConfigMap config-leader-election-webhook: lease-duration: must be longer than renew-deadline")
}

func TestStart_MissingConfigMap_IsNamed(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithoutWebhooks("webhook"), harness.Without("controller"))
	env.Kubectl(t, "delete", "configmap", "config-addressable", "-n", env.SystemNamespace)
	for _, process := range hardened {
		checkStartFails(t, env, process, "config-addressable", "not found")
	}
}

func TestStart_PortInUse_IsNamed(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithoutWebhooks("webhook"), harness.Without("controller"))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range hardened {
		for _, variable := range []string{"HEALTH_PORT", "PROFILING_PORT", "METRICS_PROMETHEUS_PORT"} {
			env.Process(t, process).SetEnv(map[string]string{variable: port})
			checkStartFails(t, env, process, variable+"="+port, "address already in use")
		}
		env.Process(t, process).SetEnv(nil)
	}
}

func TestStart_APIServerUnreachable_IsNamed(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Without("controller"), harness.Without("webhook"))
	config, err := clientcmd.LoadFromFile(env.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	// A reserved port on which no program listens.
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + address
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	for _, process := range hardened {
		env.Process(t, process).SetEnv(map[string]string{"KUBECONFIG": kubeconfig})
		checkStartFails(t, env, process, "https://"+address, "connection refused")
	}
}

func TestStart_TokenRejected_IsNamed(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Without("controller"), harness.Without("webhook"))
	config, err := clientcmd.LoadFromFile(env.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for name := range config.AuthInfos {
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: "not-a-token"}
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	for _, process := range hardened {
		env.Process(t, process).SetEnv(map[string]string{"KUBECONFIG": kubeconfig})
		checkStartFails(t, env, process, "Unauthorized")
	}
}
