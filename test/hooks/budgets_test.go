/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// The page docs/how-to/write-a-hook-in-go.md shows this program and this test.
func TestHowTo_HookInGo_ProcessCreatesBudgets(t *testing.T) {
	s := newScene(t)
	program := filepath.Join(t.TempDir(), "budgets")
	if out, err := exec.Command("go", "build", "-o", program, "./budgets").CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v: %s", err, out)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"it": {Server: s.config.Host, CertificateAuthorityData: s.config.CAData}}, CurrentContext: "it",
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"it": {Token: s.config.BearerToken, ClientCertificateData: s.config.CertData, ClientKeyData: s.config.KeyData}},
		Contexts:  map[string]*clientcmdapi.Context{"it": {Cluster: "it", AuthInfo: "it"}},
	}, kubeconfig); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	process := exec.CommandContext(t.Context(), program)
	process.Stdout, process.Stderr = &out, &out
	process.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "SYSTEM_NAMESPACE="+s.ns, "HEALTH_PORT="+strconv.Itoa(freePort(t)),
		"PROFILING_PORT="+strconv.Itoa(freePort(t)), "METRICS_PROMETHEUS_PORT="+strconv.Itoa(freePort(t)))
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	deployment := s.env.Apply(t, s.ns, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {example.com/budget: "true"}}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}
`)[0]
	budget := deployment
	budget.Resource = policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")
	s.env.Await(t, budget, func(object *unstructured.Unstructured) error {
		if object == nil {
			return errors.New("it has not been created")
		}
		return nil
	})
	s.env.Delete(t, deployment)
	s.env.Await(t, budget, harness.Deleted)
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := process.Wait(); err != nil {
		t.Errorf("the process ended with %v: %s", err, out.String())
	}
}
