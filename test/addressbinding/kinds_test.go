/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// workerCRD defines a kind with a Pod template in its own group, and lets the operator bind its objects if granted.
func workerCRD(group, spec string, granted bool) string {
	crd := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: workers.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Worker, plural: workers}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: %[2]s}}}
`, group, spec)
	if granted {
		crd += "---\n" + grant(group)
	}
	return crd
}

func grant(group string) string {
	return fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: workers-%[1]s, labels: {duck.knative.dev/podspecable: "true"}}
rules:
- {apiGroups: [%[1]s], resources: [workers], verbs: [list, watch, patch]}
`, group)
}

const anything = "{type: object, x-kubernetes-preserve-unknown-fields: true}"

func worker(group, name, spec string) string {
	return fmt.Sprintf("apiVersion: %s/v1\nkind: Worker\nmetadata: {name: %s, labels: {bound: to-it}}\nspec: %s\n", group, name, spec)
}

const withContainers = "{other: kept, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}, {name: d, image: d, env: [{name: A, value: b}]}]}}}"

func toWorker(group, name string) string {
	return fmt.Sprintf("{apiVersion: %s/v1, kind: Worker, name: %s}", group, name)
}

func TestAddressBinding_CRDWithATemplate_IsBound(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	const group = "with-template.example.com"
	env.Define(t, workerCRD(group, anything, true))
	t.Run("and left as before", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, env)
		k := w.Apply(t, w.ns, worker(group, "k", withContainers))[0]
		before := w.get(t, k)
		ab := w.bind(t, "b", toWorker(group, "k"))
		w.Await(t, ab, harness.Ready, counts(1, 1))
		after := w.Await(t, k, has(address))
		if diff := cmp.Diff(without(t, before, ""), without(t, after, "K_ADDRESS")); diff != "" {
			t.Errorf("something else has changed (-before, +after):\n%s", diff)
		}
		w.Delete(t, ab)
		w.Await(t, ab, harness.Deleted)
		if diff := cmp.Diff(without(t, before, ""), without(t, w.get(t, k), "")); diff != "" {
			t.Errorf("the binding has left something behind (-before, +after):\n%s", diff)
		}
	})
	t.Run("unless admission rejects it", func(t *testing.T) {
		t.Parallel()
		newWorld(t, env).oneIsRejected(t, group)
	})
	for name, spec := range map[string]string{"empty": "{}", "strange": "{template: text}"} {
		for by, change := range map[string]func(*testing.T, *world, harness.Ref){
			"user": func(t *testing.T, w *world, k harness.Ref) {
				t.Helper()
				w.Apply(t, w.ns, worker(group, k.Name, withContainers))
			},
			// The webhook does not have a part in it.
			"us": func(t *testing.T, w *world, k harness.Ref) {
				t.Helper()
				mark := w.Mark(t)
				w.patchAsOurs(t, k, `{"spec": {"template": {"spec": {"containers": [{"name": "c"}, {"name": "d", "env": [{"name": "A", "value": "b"}]}]}}}}`)
				w.AwaitWithin(t, triggered, k, has(address))
				if got := w.patches(t, mark, "workers"); len(got) != 1 {
					t.Errorf("the controller wrote %d times to it, want once: %v", len(got), got)
				}
			},
		} {
			t.Run("that is "+name+" until it is changed by "+by, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, env)
				k := w.Apply(t, w.ns, worker(group, "k", spec))[0]
				ab := w.bind(t, k.Name, toWorker(group, k.Name))
				w.Await(t, ab, notBound("SubjectNotPodSpecable"), harness.HasCondition("Intercepted", "True", ""), counts(1, 0))
				change(t, w, k)
				w.AwaitWithin(t, triggered, k, has(address))
				w.AwaitWithin(t, triggered, ab, harness.Ready, counts(1, 1))
			})
		}
	}
}

func TestAddressBinding_KindInstalledAndRemoved_IsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	const group = "later.example.com"
	ab := w.bind(t, "b", toWorker(group, "k"))
	w.Await(t, ab, notBound("SubjectKindNotFound"), harness.HasCondition("Intercepted", "Unknown", "SubjectKindNotFound"))
	w.Define(t, workerCRD(group, anything, true))
	w.Await(t, ab, notBound("SubjectNotFound"))
	k := w.Apply(t, w.ns, worker(group, "k", withContainers))[0]
	w.Await(t, k, has(address))
	w.Await(t, ab, harness.Ready)
	crd := harness.Ref{Resource: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, Name: "workers." + group}
	w.Delete(t, crd)
	w.Await(t, crd, harness.Deleted)
	w.Await(t, ab, notBound("SubjectKindNotFound"))
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
}
