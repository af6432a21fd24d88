/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// The examples of Knative's sample-controller, word for word.
const (
	addressableExample = `
apiVersion: samples.knative.dev/v1alpha1
kind: AddressableService
metadata:
  name: make-it-addressable
  namespace: knative-samples
spec:
  serviceName: webhook
`
	deploymentExample = `
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata:
  name: example-simple-deployment
spec:
  image: gcr.io/knative-samples/helloworld-go
  replicas: 2
`
)

func TestConversion_KnativeManifest_IsReadBackAtEveryVersion(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	const name = "make-it-addressable"
	ns := env.SystemNamespace // where the Service is that the manifest names
	said, err := env.TryKubectl(t, addressableExample, "apply", "--filename", "-")
	if err != nil {
		t.Fatal(err)
	}
	if want := "addressableservice.samples.knative.dev/make-it-addressable created\n"; said != want {
		t.Errorf("kubectl said %q, want %q", said, want)
	}
	env.Await(t, at(hub, ns, name), harness.Ready)
	for version, want := range map[string]map[string]any{
		"v1alpha1": {"serviceName": "webhook"},
		"v1beta1":  {"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": "webhook"}},
		"v1":       {"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": "webhook"}},
	} {
		got := get(t, env, at(version, ns, name))
		if diff := cmp.Diff(want, got.Object["spec"]); diff != "" {
			t.Errorf("spec at %s (-want +got):\n%s", version, diff)
		}
		if url, _, _ := unstructured.NestedString(got.Object, "status", "address", "url"); url != "https://webhook."+ns+".svc.cluster.local" {
			t.Errorf("address at %s is %q", version, url)
		}
		if err := harness.Ready(got); err != nil {
			t.Errorf("at %s: %v", version, err)
		}
		if stash, ok := got.GetAnnotations()[fixtures.Stash]; ok && version == hub {
			t.Errorf("at %s there is a stash: %s", version, stash)
		}
	}
	env.Delete(t, at(hub, ns, name))
}

func TestConversion_KnativeSimpleDeployment_HasItsPods(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	if _, err := env.TryKubectl(t, deploymentExample, "apply", "--namespace", ns, "--filename", "-"); err != nil {
		t.Fatal(err)
	}
	deployment := harness.Ref{Resource: v1alpha1.SchemeGroupVersion.WithResource("simpledeployments"), Namespace: ns, Name: "example-simple-deployment"}
	env.Await(t, deployment, harness.Ready)
	pods, err := env.Kube.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 2 || pods.Items[0].Spec.Containers[0].Image != "gcr.io/knative-samples/helloworld-go" {
		t.Errorf("the Pods are %v", pods.Items)
	}
}
