//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// What fails of the kinds that AddressBindings are for is in TestBindingWebhook_Stopped_RequestsAreCountedAndRejected.
func TestOutage_NoWebhookRuns_OnlyWritesThatNeedItFail(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions(), harness.WithReplicas("webhook", 1), harness.WithReplicas("controller", 1))
	ns, exempt, ends := env.Namespace(t), env.Namespace(t), env.Namespace(t)
	env.Patch(t, harness.Ref{Resource: schemaNamespaces, Name: exempt}, `{"metadata": {"labels": {"webhooks.knative.dev/exclude": ""}}}`)
	create(t, env, object(ns, named("kept")))
	create(t, env, object(ns, named("deleted")))
	create(t, env, object(ends))
	deployments := env.Dynamic.Resource(v1.Resource("simpledeployments").WithVersion("v1alpha1"))
	bindings := env.Dynamic.Resource(v1.SchemeGroupVersion.WithResource("addressbindings"))
	deployment := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "samples.knative.dev/v1alpha1", "kind": "SimpleDeployment", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"image": "registry.example.com/it:v1", "replicas": int64(1)},
		}}
	}
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.SchemeGroupVersion.String(), "kind": "AddressBinding", "metadata": map[string]any{"name": "binding"},
		"spec": map[string]any{
			"address": map[string]any{"name": "kept"}, "subject": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "it"},
		},
	}}
	if _, err := bindings.Namespace(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	env.Process(t, "webhook").Kill(t)

	patch := func(version, patch string, subresources ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := servicesAt(version, env, ns).Patch(ctx, "kept", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
			return err
		}
	}
	for _, write := range []struct {
		what string
		do   func(context.Context) error
		// fails is part of the error, empty if the write succeeds.
		fails string
	}{
		{"a new AddressableService", func(ctx context.Context) error {
			_, err := services(env, ns).Create(ctx, object(ns), metav1.CreateOptions{})
			return err
		}, `failed calling webhook "defaulting.webhook.samples.knative.dev"`},
		{"a new AddressableService at an older version", func(ctx context.Context) error {
			_, err := servicesAt("v1beta1", env, ns).Create(ctx, objectAt("v1beta1", ns), metav1.CreateOptions{})
			return err
		}, "webhook"},
		{"a changed spec", patch(hub, `{"spec": {"path": "/changed"}}`), ""},
		{"an invalid spec", patch(hub, `{"spec": {"path": "changed"}}`), "path must start with a slash"},
		{
			"a reference to itself", patch(hub, `{"spec": {"ref": {"apiVersion": "samples.knative.dev/v1", "kind": "AddressableService", "name": "kept"}}}`),
			`failed calling webhook "validation.webhook.samples.knative.dev"`,
		},
		{"a changed label", patch(hub, `{"metadata": {"labels": {"a": "b"}}}`), ""},
		{"a removed finalizer", patch(hub, `{"metadata": {"finalizers": null}}`), `failed calling webhook "defaulting.webhook.samples.knative.dev"`},
		{
			"another class", patch(hub, `{"metadata": {"annotations": {"samples.knative.dev/addressableservice.class": "other"}}}`),
			`failed calling webhook "validation.webhook.samples.knative.dev"`,
		},
		{"a changed status", patch(hub, `{"status": {"observedGeneration": 1}}`, "status"), ""},
		{"a change at an older version", patch("v1beta1", `{"metadata": {"labels": {"a": "b"}}}`), "conversion webhook"},
		{"deleting an AddressableService", func(ctx context.Context) error {
			return services(env, ns).Delete(ctx, "deleted", metav1.DeleteOptions{})
		}, ""},
		{"deleting a namespace with an AddressableService", func(ctx context.Context) error {
			return env.Kube.CoreV1().Namespaces().Delete(ctx, ends, metav1.DeleteOptions{})
		}, ""},
		{"a new AddressableService in an exempt namespace", func(ctx context.Context) error {
			_, err := services(env, exempt).Create(ctx, object(exempt), metav1.CreateOptions{})
			return err
		}, ""},
		{"a changed AddressBinding", func(ctx context.Context) error {
			_, err := bindings.Namespace(ns).Patch(ctx, "binding", types.MergePatchType, []byte(`{"spec": {"variable": "OTHER"}}`), metav1.PatchOptions{})
			return err
		}, ""},
		{"an AddressBinding of a subject in another namespace", func(ctx context.Context) error {
			_, err := bindings.Namespace(ns).Patch(ctx, "binding", types.MergePatchType, []byte(`{"spec": {"subject": {"namespace": "default"}}}`), metav1.PatchOptions{})
			return err
		}, `failed calling webhook "validation.webhook.samples.knative.dev"`},
		{"deleting an AddressBinding", func(ctx context.Context) error {
			return bindings.Namespace(ns).Delete(ctx, "binding", metav1.DeleteOptions{})
		}, ""},
		{"a new SimpleDeployment", func(ctx context.Context) error {
			_, err := deployments.Namespace(ns).Create(ctx, deployment("new"), metav1.CreateOptions{})
			return err
		}, ""},
		{"a changed SimpleDeployment", func(ctx context.Context) error {
			_, err := deployments.Namespace(ns).Patch(ctx, "new", types.MergePatchType, []byte(`{"spec": {"replicas": 2}}`), metav1.PatchOptions{})
			return err
		}, ""},
		{"a changed ConfigMap of the operator", func(ctx context.Context) error {
			_, err := env.Kube.CoreV1().ConfigMaps(env.SystemNamespace).Patch(ctx, "config-addressable", types.MergePatchType,
				[]byte(`{"metadata": {"annotations": {"a": "b"}}}`), metav1.PatchOptions{})
			return err
		}, ""},
		{"a new Service", func(ctx context.Context) error {
			_, err := env.Kube.CoreV1().Services(ns).Create(ctx, &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: "service"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
			}, metav1.CreateOptions{})
			return err
		}, ""},
	} {
		switch err := write.do(t.Context()); {
		case write.fails == "" && err != nil:
			t.Errorf("%s: got error %v, want success", write.what, err)
		case write.fails != "" && (err == nil || !strings.Contains(err.Error(), write.fails)):
			t.Errorf("%s: got error %v, want one that says %s", write.what, err, write.fails)
		}
	}
	env.Await(t, harness.Ref{Resource: resource, Namespace: ns, Name: "deleted"}, harness.Deleted)
	env.AwaitWithin(t, 2*time.Minute, harness.Ref{Resource: schemaNamespaces, Name: ends}, harness.Deleted)
}
