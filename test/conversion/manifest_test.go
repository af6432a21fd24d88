/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// manifest is the one of Knative's sample-controller, word for word.
const manifest = `
apiVersion: samples.knative.dev/v1alpha1
kind: AddressableService
metadata:
  name: hello
spec:
  serviceName: webhook
`

func TestConversion_KnativeManifest_IsReadBackAtEveryVersion(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.SystemNamespace // where the Service is that the manifest names
	said, err := env.TryKubectl(t, manifest, "apply", "--namespace", ns, "--filename", "-")
	if err != nil {
		t.Fatal(err)
	}
	if want := "addressableservice.samples.knative.dev/hello created\n"; said != want {
		t.Errorf("kubectl said %q, want %q", said, want)
	}
	env.Await(t, at(hub, ns, "hello"), harness.Ready)
	for version, want := range map[string]map[string]any{
		"v1alpha1": {"serviceName": "webhook"},
		"v1beta1":  {"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": "webhook"}},
		"v1":       {"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": "webhook"}},
	} {
		got := get(t, env, at(version, ns, "hello"))
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
	env.Delete(t, at(hub, ns, "hello"))
}
