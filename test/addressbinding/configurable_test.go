//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestAddressBinding_ConfigurableWithoutSpec_MakesNoHotLoop is about a patch that can never be made, as the operator finds out by trying only:
// the duck type does not show whether there is a spec.
func TestAddressBinding_ConfigurableWithoutSpec_MakesNoHotLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	w.Define(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: runners.no-spec.example.com, labels: {duck.samples.knative.dev/configurable: "true"}}
spec:
  group: no-spec.example.com
  scope: Namespaced
  names: {kind: Runner, plural: runners}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: runners.no-spec.example.com, labels: {duck.samples.knative.dev/configurable: "true"}}
rules:
- {apiGroups: [no-spec.example.com], resources: [runners], verbs: [list, watch, patch]}
`)
	const empty = "apiVersion: no-spec.example.com/v1\nkind: Runner\nmetadata: {name: r}\n"
	r := w.Apply(t, w.ns, empty)[0]
	mark := w.Mark(t)
	ab := w.bind(t, "b", "{apiVersion: no-spec.example.com/v1, kind: Runner, name: r}")
	w.Await(t, ab, notBound("BindFailed"))
	// It lasts some seconds until that is said: a patch at once, and then after 1, 2, 4 and 8 seconds. Each status that was
	// written, by the controller or for the webhook's new rule, may have brought one more.
	if n := len(w.patches(t, mark, "runners")); n > 8 {
		t.Errorf("there were %d patches, want at most 8", n)
	}
	w.Apply(t, w.ns, empty+"spec: {a: b}\n")
	w.Await(t, ab, harness.Ready, counts(1, 1))
	configured := w.get(t, r)
	spec, _ := configured.Object["spec"].(map[string]any)
	if spec["a"] != "b" || spec["configurable"] == nil {
		t.Errorf("the spec is %v, want it with its own field and with what is configured", spec)
	}
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
}
