//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// BenchmarkApply applies a file with 1,000 ConfigMaps with crud, with and without preflight, and with kubectl, on the same server: absent ones, the same again,
// and changed ones. The metrics crud/kubectl-CASE are how many times as long crud takes as `kubectl apply`. They should not exceed 1.1 for absent
// objects, and 0.2 for the others; it fails beyond 1.5 times as much.
func BenchmarkApply(b *testing.B) {
	env := harness.Shared(b)
	crudPath, err := program()
	if err != nil {
		b.Fatal(err)
	}
	kubectlPath := env.KubectlPath(b)
	took := map[string]time.Duration{}
	for b.Loop() {
		for name, command := range map[string][]string{
			"crud":         {crudPath, "apply"},
			"no-preflight": {crudPath, "apply"},
			"kubectl":      {filepath.Join(kubectlPath, "kubectl"), "apply", "-f"},
		} {
			namespace := env.Namespace(b)
			for _, round := range []string{"absent", "unchanged", "changed"} {
				file := thousand(b, name, namespace, round == "changed")
				process := exec.CommandContext(b.Context(), command[0], append(command[1:], file)...)
				process.Env = append(os.Environ(), "KUBECONFIG="+env.Kubeconfig)
				start := time.Now()
				if out, err := process.CombinedOutput(); err != nil {
					b.Fatalf("%v: %.1000s", err, out)
				}
				took[name+"-"+round] += time.Since(start)
			}
		}
	}
	for round, goal := range map[string]float64{"absent": 1.1, "unchanged": 0.2, "changed": 0.2} {
		if ratio := took["crud-"+round].Seconds() / took["kubectl-"+round].Seconds(); ratio > 1.5*goal {
			b.Errorf("%s: crud takes %.2f times as long as kubectl, want %.2f", round, ratio, goal)
		}
		for _, name := range []string{"crud", "no-preflight"} {
			b.ReportMetric(took[name+"-"+round].Seconds()/took["kubectl-"+round].Seconds(), name+"/kubectl-"+round)
		}
		b.Logf("%s: %v, without preflight %v, kubectl %v", round, took["crud-"+round], took["no-preflight-"+round], took["kubectl-"+round])
	}
}

// thousand writes a file with 1,000 ConfigMaps for a command: as objects for kubectl, and otherwise as operations.
func thousand(b *testing.B, command, namespace string, isChanged bool) string {
	b.Helper()
	var file strings.Builder
	if command == "no-preflight" {
		file.WriteString("file: {preflight: off}\n")
	}
	for i := range 1000 {
		object := fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: %s, name: a%d, labels: {app: a}}, data: {k: "%t"}}`, namespace, i, isChanged)
		if command != "kubectl" {
			object = "operationType: CreateOrUpdate\nspec: " + object
		}
		file.WriteString("---\n" + object + "\n")
	}
	path := filepath.Join(b.TempDir(), "file.yaml")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}
