//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const sample = fixtures.Target + "---" + `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: published}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: alias}
`

const deployment = `
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: it}
spec: {image: one}
`

// No process starts with an invalid ConfigMap, not even the webhook, so the way to fix one must not need the webhook.
func TestConfigMap_Invalid_CanBeFixedWhileTheWebhookIsDown(t *testing.T) {
	env := harness.Own(t)
	bad := map[string]string{"domain-template": "{{.Nonsense}}"}
	if err := env.TrySetConfig(t, "config-addressable", bad); err == nil || !strings.Contains(err.Error(), "domain-template") {
		t.Errorf("a bad ConfigMap while the webhook runs: got %v, want an error that names the key", err)
	}
	env.Process(t, "webhook").Stop(t)
	if err := env.TrySetConfig(t, "config-addressable", map[string]string{"domain": "example.org"}); err != nil {
		t.Errorf("a good ConfigMap while no webhook runs is rejected: %v", err)
	}
	if _, err := env.TryApply(t, env.Namespace(t), sample); err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("an object of ours while no webhook runs: got %v, want it rejected", err)
	}
}

// The operator itself, as the overlay installs it: with its permissions there it serves its namespace, an alias
// included, and the webhook leaves the selectors that limit it to that namespace in place.
func TestSingleNamespace_Operator_ServesItsNamespaceOnly(t *testing.T) {
	dir := t.TempDir()
	manifests := kubectl(t, localcluster(t), "/nowhere", "", "kustomize", folderOf(t, "single-namespace+hooks"))
	if err := os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(manifests), 0o600); err != nil {
		t.Fatal(err)
	}
	env := harness.Own(t, harness.WithConfig(dir))
	inside := env.Apply(t, metav1.NamespaceDefault, sample)[1]
	env.Await(t, inside, harness.Ready)
	alias, err := env.Kube.CoreV1().Services(metav1.NamespaceDefault).Get(t.Context(), "alias", metav1.GetOptions{})
	if err != nil || alias.Spec.ExternalName == "" {
		t.Errorf("the alias in the namespace: %v, %v", alias, err)
	}

	env.Await(t, env.Apply(t, metav1.NamespaceDefault, deployment)[0], harness.Ready)

	// The webhook is not called for another namespace, so not even a finalizer is set there.
	outside := env.Apply(t, env.Namespace(t), sample)[1]
	object, err := env.Dynamic.Resource(outside.Resource).Namespace(outside.Namespace).Get(t.Context(), outside.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(object.GetFinalizers()) > 0 || len(object.GetAnnotations()["samples.knative.dev/addressableservice.class"]) > 0 {
		t.Errorf("an object of another namespace was completed: %v", object)
	}

	want := map[string]string{"kubernetes.io/metadata.name": metav1.NamespaceDefault}
	admission := env.Kube.AdmissionregistrationV1()
	mutating, err := admission.MutatingWebhookConfigurations().Get(t.Context(), "defaulting.webhook.samples.knative.dev", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	validating, err := admission.ValidatingWebhookConfigurations().Get(t.Context(), "validation.webhook.samples.knative.dev", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binding, err := admission.MutatingWebhookConfigurations().Get(t.Context(), "binding.webhook.samples.knative.dev", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(mutating.Webhooks[0].Rules) == 0 || len(validating.Webhooks[0].Rules) == 0 {
		t.Error("the webhook has not filled in its rules")
	}
	for name, selector := range map[string]*metav1.LabelSelector{
		mutating.Name: mutating.Webhooks[0].NamespaceSelector, binding.Webhooks[0].Name: binding.Webhooks[0].NamespaceSelector,
		binding.Webhooks[1].Name: binding.Webhooks[1].NamespaceSelector, validating.Name: validating.Webhooks[0].NamespaceSelector,
	} {
		if diff := cmp.Diff(want, selector.MatchLabels); diff != "" {
			t.Errorf("%s selects other namespaces than that one (-want +got):\n%s", name, diff)
		}
	}

	env.Delete(t, inside)
	env.Await(t, inside, harness.Deleted)
}

// TestConfig_AppliedToARunningOperator_ChangesNothing: the webhook has filled the CA into CRDs and webhook configurations, which config/ lacks.
func TestConfig_AppliedToARunningOperator_ChangesNothing(t *testing.T) {
	env := harness.Own(t)
	config, err := filepath.Abs("../../config")
	if err != nil {
		t.Fatal(err)
	}
	apply := func() string {
		env.Kubectl(t, "apply", "--recursive", "--filename", config)
		return env.Kubectl(t, "get", "crds,mutatingwebhookconfigurations,validatingwebhookconfigurations", "--selector=app.kubernetes.io/part-of=mallard",
			`--output=jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion} {.webhooks[0].clientConfig.caBundle}{"\n"}{end}`)
	}
	// The first time, kubectl notes the manifests in an annotation.
	first := apply()
	if diff := cmp.Diff(first, apply()); diff != "" {
		t.Errorf("config/ was applied again, and that wrote objects (-before +after):\n%s", diff)
	}
	env.Await(t, env.Apply(t, env.Namespace(t), sample)[1], harness.Ready)
}

// TestConfig_OwnCRDsDeletedAndAppliedAgain_ObjectsWorkWithoutARestart deletes CRDs with objects that have a finalizer, while the operator runs.
func TestConfig_OwnCRDsDeletedAndAppliedAgain_ObjectsWorkWithoutARestart(t *testing.T) {
	env := harness.Own(t)
	// These do not exist for a while.
	env.ExpectErrors(t, "addressableservices.samples.knative.dev", "simpledeployments.samples.knative.dev", "Resource=addressableservices")
	ns := env.Namespace(t)
	config, err := filepath.Abs("../../config")
	if err != nil {
		t.Fatal(err)
	}
	manifests := sample + "---" + deployment
	for range 2 {
		for _, ref := range env.Apply(t, ns, manifests)[1:] {
			env.Await(t, ref, harness.Ready)
		}
		env.Kubectl(t, "delete", "crd", "addressableservices.samples.knative.dev", "simpledeployments.samples.knative.dev", "--timeout=1m")
		alias, err := env.Kube.CoreV1().Services("knative-samples-directory").Get(t.Context(), "alias", metav1.GetOptions{})
		if err == nil {
			t.Errorf("the alias still exists: %v", alias.Spec)
		}
		env.Kubectl(t, "apply", "--recursive", "--filename", config)
		env.Kubectl(t, "wait", "crd", "--for=condition=Established", "--selector=app.kubernetes.io/part-of=mallard", "--timeout=1m")
	}
}
