//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// ours selects the CRDs, and all else that belongs to the operator.
const ours = "--selector=app.kubernetes.io/part-of=mallard"

// documentedWithin bounds the commands of one block, which may build ko and the images.
const documentedWithin = 15 * time.Minute

// bound is an AddressBinding and its subject. Deleting the binding needs the controller, and so does deleting the AddressableService.
const bound = fixtures.Target + `
---
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: target}
spec: {ref: {apiVersion: v1, kind: Service, name: target}, publish: {alias: %[1]s}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: subject, labels: {bindings.knative.dev/include: "true"}}
spec:
  replicas: 0
  selector: {matchLabels: {app: subject}}
  template:
    metadata: {labels: {app: subject}}
    spec: {containers: [{name: subject, image: registry.k8s.io/pause:3.10}]}
---
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata: {name: bound}
spec: {subject: {apiVersion: apps/v1, kind: Deployment, name: subject}, address: {name: target}}
`

func TestUninstall_WrongOrder_InstallingAgainCleansUp(t *testing.T) {
	env := harness.Shared(t)
	namespaces := installBound(t, env)
	env.Ko(t, root, "delete", "--recursive", "--filename", "config/", "--wait=false")
	// Applying a CRD that is deleted at that moment fails. No object keeps this one.
	env.Kubectl(t, "wait", "crd/simpledeployments.samples.knative.dev", "--for=delete", "--timeout=5m")
	runDocumented(t, env)
	awaitUninstalled(t, env)
	for _, ns := range namespaces {
		if variables := variablesOf(t, env, ns); variables != "" {
			t.Errorf("the subject in %s has the variables %s, want none", ns, variables)
		}
	}
}

// TestUninstall_WrongOrder_RemovingFinalizersFreesAllObjects keeps the webhook configurations, which is worse than if they had been deleted.
func TestUninstall_WrongOrder_RemovingFinalizersFreesAllObjects(t *testing.T) {
	env := harness.Shared(t)
	namespaces := installBound(t, env)
	env.Kubectl(t, "--namespace", system, "scale", "deployment/webhook", "--replicas=0")
	env.Kubectl(t, "--namespace", system, "wait", "pod", "--selector=app.kubernetes.io/component=webhook", "--for=delete", "--timeout=5m")
	env.Kubectl(t, "delete", "crd", ours, "--wait=false")
	harness.Eventually(t, "all objects are terminating", func(context.Context) error {
		out := env.Kubectl(t, "get", "asvc,abind", "--all-namespaces", "--output=jsonpath={.items[*].metadata.deletionTimestamp}")
		if want := 2 * len(namespaces); len(strings.Fields(out)) != want {
			return fmt.Errorf("the objects are deleted since %q, want %d times", out, want)
		}
		return nil
	})
	runDocumented(t, env)
	awaitUninstalled(t, env)
	for _, ns := range namespaces {
		if variables := variablesOf(t, env, ns); variables != "K_ADDRESS" {
			t.Errorf("the subject in %s has the variables %q, want K_ADDRESS as docs/how-to/uninstall.md says", ns, variables)
		}
	}
}

// installBound installs the operator with objects that have its finalizers in two namespaces, and stops the controller.
func installBound(t *testing.T, env *harness.Env) []string {
	t.Helper()
	install(t, env, root)
	namespaces := []string{env.Namespace(t), env.Namespace(t)}
	for _, ns := range namespaces {
		if _, err := env.TryKubectl(t, fmt.Sprintf(bound, ns), "apply", "--namespace", ns, "--filename=-"); err != nil {
			t.Fatal(err)
		}
		env.Kubectl(t, "wait", "--for=condition=Ready", "asvc,abind", "--all", "--namespace", ns, "--timeout=5m")
	}
	env.Kubectl(t, "--namespace", system, "scale", "deployment/controller", "--replicas=0")
	env.Kubectl(t, "--namespace", system, "wait", "pod", "--selector=app.kubernetes.io/component=controller", "--for=delete", "--timeout=5m")
	return namespaces
}

func variablesOf(t *testing.T, env *harness.Env, ns string) string {
	t.Helper()
	return env.Kubectl(t, "get", "deployment/subject", "--namespace", ns, "--output=jsonpath={.spec.template.spec.containers[*].env[*].name}")
}

// runDocumented runs the block of docs/how-to/uninstall.md that names this test, as its reader would.
func runDocumented(t *testing.T, env *harness.Env) {
	t.Helper()
	page, err := os.ReadFile(root + "/docs/how-to/uninstall.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)\n```sh shown-by=test/operations:" + t.Name() + "\n(.*?)\n```\n").FindSubmatch(page)
	if block == nil {
		t.Fatalf("no block of docs/how-to/uninstall.md names %s", t.Name())
	}
	ctx, cancel := context.WithTimeout(t.Context(), documentedWithin)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-e", "-u", "-x", "-o", "pipefail", "-c", string(block[1]))
	command.Dir, command.WaitDelay = root, time.Second
	command.Env = append(append(os.Environ(), env.KoEnvironment(t)...), "KUBECONFIG="+env.Kubeconfig, "KUBECACHEDIR="+t.TempDir(),
		"KO_DEFAULTPLATFORMS=linux/"+runtime.GOARCH, "PATH="+env.KubectlPath(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func awaitUninstalled(t *testing.T, env *harness.Env) {
	t.Helper()
	harness.Eventually(t, "nothing of the operator is left", func(context.Context) error {
		kinds := "crd,mutatingwebhookconfigurations,validatingwebhookconfigurations,namespaces,clusterroles,clusterrolebindings,priorityclasses"
		if left := env.Kubectl(t, "get", kinds, ours, "--output=name"); left != "" {
			return errors.New(left)
		}
		return nil
	})
}
