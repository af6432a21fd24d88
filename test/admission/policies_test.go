//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// newPolicies starts an environment of the overlay no-webhooks.
func newPolicies(t *testing.T, options ...harness.Option) *harness.Env {
	t.Helper()
	env := harness.Own(t, append(options, harness.WithConfig(fixtures.NoWebhooks(t)))...)
	awaitAdmissionIn(t, env, metav1.NamespaceDefault, true)
	return env
}

// boundJob is a subject that gets no address after it was created.
const boundJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: job, labels: {bindings.knative.dev/include: "true"}}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: main}]}
---
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata: {name: job}
spec:
  subject: {apiVersion: batch/v1, kind: Job, name: job}
  address: {name: hello}
`

func TestPolicies_Samples_BecomeReadyWithoutAWebhook(t *testing.T) {
	env := newPolicies(t)
	configurations := env.Kube.AdmissionregistrationV1()
	mutating, err := configurations.MutatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	validating, err := configurations.ValidatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(validating.Items) > 0 || len(mutating.Items) != 1 || len(mutating.Items[0].Webhooks) > 0 {
		t.Errorf("the API server calls webhooks: %v, %v", mutating.Items, validating.Items)
	}
	ns := env.Namespace(t)
	files, err := filepath.Glob("../../samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var ours []harness.Ref
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range env.Apply(t, ns, strings.ReplaceAll(string(content), "namespace: default\n", "namespace: "+ns+"\n")) {
			if ref.Resource.Group == samples.GroupName {
				ours = append(ours, ref)
			}
		}
	}
	job := env.Apply(t, ns, boundJob)[1]
	env.Await(t, job, harness.HasCondition("SubjectsBound", "False", v1.ReasonSubjectImmutable))
	for _, ref := range ours {
		env.Await(t, ref, harness.Ready)
		if ref.Resource == bindings {
			env.Await(t, ref, harness.HasCondition("Intercepted", "True", v1.ReasonNoWebhook))
		}
	}
	if len(ours) != 5 {
		t.Errorf("the samples are %v", ours)
	}
	ours = append(ours, job)
	for _, ref := range ours {
		env.Delete(t, ref)
	}
	for _, ref := range ours {
		env.Await(t, ref, harness.Deleted)
	}
}

func TestPolicies_RandomObjects_AreAdmittedAsByTheWebhook(t *testing.T) {
	env := newPolicies(t, harness.Without("controller"))
	compareRandomObjects(t, env)
}

// TestConditions_RandomObjectsWithV1Alone_AreAdmittedAsByValidate is TestConditions_RandomObjects_AreAdmittedAsByValidate for config/ as it is, where the
// shared environment also serves the older versions.
func TestConditions_RandomObjectsWithV1Alone_AreAdmittedAsByValidate(t *testing.T) {
	compareRandomObjects(t, harness.Own(t, harness.Without("controller")))
}

func TestPolicies_DefaultClass_IsThatOfTheConfigMap(t *testing.T) {
	env := newPolicies(t, harness.Without("controller"))
	ns := env.Namespace(t)
	stored := create(t, env, object(ns))
	ref := harness.Ref{Resource: resource, Namespace: ns, Name: stored.GetName()}
	dryRun := func(ctx context.Context) (*unstructured.Unstructured, error) {
		return services(env, ns).Create(ctx, object(ns), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	}
	env.SetConfig(t, "config-addressable", map[string]string{"default-class": "other.example.com"})
	harness.Eventually(t, "the class of the ConfigMap", func(ctx context.Context) error {
		answer, err := dryRun(ctx)
		if err == nil && (classOf(answer) != "other.example.com" || len(answer.GetFinalizers()) > 0) {
			return fmt.Errorf("got class %q and finalizers %q", classOf(answer), answer.GetFinalizers())
		}
		return err
	})
	// Without the webhook, nothing rejects this ConfigMap.
	env.SetConfig(t, "config-addressable", map[string]string{"default-class": "Not A Class"})
	harness.Eventually(t, "a rejection of the class", func(ctx context.Context) error {
		if _, err := dryRun(ctx); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `invalid class "Not A Class": `+classPath) {
			return fmt.Errorf("got error %w", err)
		}
		return nil
	})

	configMap := env.Kube.CoreV1().ConfigMaps(env.SystemNamespace)
	saved, err := configMap.Get(t.Context(), "config-addressable", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := configMap.Delete(t.Context(), saved.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "a rejection without the ConfigMap", func(ctx context.Context) error {
		if _, err := dryRun(ctx); err == nil || !strings.Contains(err.Error(), "no params found") {
			return fmt.Errorf("got error %w", err)
		}
		return nil
	})
	env.Patch(t, ref, `{"spec": {"path": "/changed"}}`)
	env.Delete(t, ref)
	env.Patch(t, ref, `{"metadata": {"finalizers": null}}`)
	env.Await(t, ref, harness.Deleted)
	saved.ResourceVersion = ""
	if _, err := configMap.Create(t.Context(), saved, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestPolicies_Warnings_AreThoseOfTheWebhook(t *testing.T) {
	env := newPolicies(t, harness.Without("controller"))
	ns := env.Namespace(t)
	client, warnings := warned(t, env)
	if _, err := client.Resource(resource).Namespace(ns).Create(t.Context(), object(ns, named("it"), classed("other"), annotated("{}")), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(warnings.take(), "\n")
	for _, want := range []string{
		`this operator serves no AddressableService of class "other"; its class is "mallard": ` + classPath,
		"the annotation sets properties of other versions: metadata.annotations",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the warnings are %s, want one that contains %q", got, want)
		}
	}
	_, err := client.Resource(resource).Namespace(ns).Patch(t.Context(), "it", types.MergePatchType, []byte(`{"spec": {"path": "/changed"}}`), metav1.PatchOptions{})
	if got := warnings.take(); err != nil || len(got) > 0 {
		t.Errorf("an update: got error %v and warnings %q", err, got)
	}
}

// TestPolicies_AppliedToARunningOperator_ReplaceTheWebhook runs the commands of docs/how-to/install.md, and takes them back.
func TestPolicies_AppliedToARunningOperator_ReplaceTheWebhook(t *testing.T) {
	dir := fixtures.NoWebhooks(t)
	env := harness.Own(t)
	env.ExpectErrors(t, "isn't configured for webhook conversion") // until the webhook stops
	ns := env.Namespace(t)
	before := create(t, env, object(ns))
	crds := env.CRDs.ApiextensionsV1().CustomResourceDefinitions()
	setStored := func(versions ...string) {
		t.Helper()
		crd, err := crds.Get(t.Context(), resource.GroupResource().String(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		crd.Status.StoredVersions = versions
		if _, err := crds.UpdateStatus(t.Context(), crd, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	setStored("v1beta1", hub)
	if _, err := env.TryKubectl(t, "", "apply", "--filename", dir); err == nil || !strings.Contains(err.Error(), "status.storedVersions") {
		t.Errorf("while objects can be stored at v1beta1: got error %v, want one about status.storedVersions", err)
	}
	setStored(hub)

	const selector = "--selector=app.kubernetes.io/part-of=mallard,app.kubernetes.io/component=webhook"
	env.Kubectl(t, "apply", "--filename", dir)
	env.Process(t, "webhook").Stop(t)
	env.Kubectl(t, "delete", "deployment,poddisruptionbudget,service,networkpolicy,serviceaccount", "--namespace", env.SystemNamespace, selector)
	env.Kubectl(t, "delete", "mutatingwebhookconfigurations,validatingwebhookconfigurations", selector)
	roles := env.Kubectl(t, "get", "clusterrole,clusterrolebinding", "--selector=app.kubernetes.io/part-of=mallard", "--output=name")
	env.Kubectl(t, append([]string{"delete"}, regexp.MustCompile(`\S+-webhook(-cluster)?\b`).FindAllString(roles, -1)...)...)
	env.Kubectl(t, "delete", "--namespace", env.SystemNamespace, "secret/webhook-certs", "role/webhook", "rolebinding/webhook")
	var left []string
	for name := range strings.Lines(env.Kubectl(t, "get", "--filename", "../../config", "--ignore-not-found", "--output=name")) {
		if strings.Contains(name, "webhook") {
			left = append(left, strings.TrimSpace(name))
		}
	}
	if want := "mutatingwebhookconfiguration.admissionregistration.k8s.io/binding.webhook.samples.knative.dev"; !slices.Equal(left, []string{want}) {
		t.Errorf("of the webhook are left %q, want %s only", left, want)
	}
	awaitAdmissionIn(t, env, ns, true)
	stored := create(t, env, object(ns))
	for _, o := range []*unstructured.Unstructured{before, stored} {
		ref := harness.Ref{Resource: resource, Namespace: ns, Name: o.GetName()}
		env.Patch(t, ref, `{"spec": {"path": "/changed"}}`)
		env.Delete(t, ref)
		env.Await(t, ref, harness.Deleted)
	}

	env.Kubectl(t, "apply", "--filename", "../../config")
	const policies = "mutatingadmissionpolicies,mutatingadmissionpolicybindings,validatingadmissionpolicies,validatingadmissionpolicybindings"
	env.Kubectl(t, "delete", policies, "--selector=app.kubernetes.io/part-of=mallard")
	awaitAdmissionIn(t, env, ns, false) // no webhook runs
	env.Kubectl(t, "get", "--filename", "../../config")
	if strategy := env.Kubectl(t, "get", "crd", resource.GroupResource().String(), "--output=jsonpath={.spec.conversion.strategy}"); strategy != "Webhook" {
		t.Errorf("objects are converted by the strategy %q", strategy)
	}
}
