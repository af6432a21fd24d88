//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenants

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// plainDeployment takes a line of metadata and the entries of env.
const plainDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: work
  %s
spec:
  replicas: 0
  selector: {matchLabels: {app: work}}
  template:
    metadata: {labels: {app: work}}
    spec:
      containers:
      - name: main
        image: main
        env: [%s]
`

const toWork = "{apiVersion: apps/v1, kind: Deployment, name: work}"

// workloadAttacks aim at objects of the tenant's own namespace that the operator is not to change.
var workloadAttacks = []attack{
	// The address of a Service can be guessed, and the name of the variable is the tenant's choice.
	{name: "VariableWithTheValueOfABinding", do: func(t *testing.T, w *tenant) {
		leftAlone(t, w, fmt.Sprintf(plainDeployment, "", "{name: DATABASE_URL, value: 'http://target."+w.ns+".svc.cluster.local'}"),
			bind("it", "DATABASE_URL", "{apiVersion: apps/v1, kind: Deployment, name: none}"))
	}},
	{name: "SubjectThatHasNotOptedIn", do: func(t *testing.T, w *tenant) {
		leftAlone(t, w, fmt.Sprintf(plainDeployment, "", ""), bind("it", "EVIL", toWork))
	}},
	{name: "SubjectThatHasOptedOut", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		leftAlone(t, w, fmt.Sprintf(plainDeployment, "labels: {bindings.knative.dev/exclude: 'true'}", ""), bind("it", "EVIL", toWork))
	}},
	{name: "VariableOfTheUsersOwn", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		leftAlone(t, w, fmt.Sprintf(plainDeployment, "", "{name: EVIL, value: mine}"), bind("it", "EVIL", toWork))
	}},
	{name: "VariableOfTheUsersOwnWithTheSameValue", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		leftAlone(t, w, fmt.Sprintf(plainDeployment, "", "{name: EVIL, value: 'http://target."+w.ns+".svc.cluster.local'}"), bind("it", "EVIL", toWork))
	}},
	{name: "SubjectOfAnotherController", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		owner := w.apply(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: owner}\n")[0]
		uid := w.Await(t, owner, harness.Exists).GetUID()
		reference := fmt.Sprintf("ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: %s, controller: true}]", uid)
		leftAlone(t, w, fmt.Sprintf(plainDeployment, reference, ""), bind("it", "EVIL", toWork))
	}},
	{name: "ReplicaSet", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		leftAlone(t, w, `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: work}
spec:
  replicas: 0
  selector: {matchLabels: {app: work}}
  template:
    metadata: {labels: {app: work}}
    spec: {containers: [{name: main, image: main}]}
`, bind("it", "EVIL", "{apiVersion: apps/v1, kind: ReplicaSet, name: work}"))
	}},
	{name: "ReplicationController", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		leftAlone(t, w, `
apiVersion: v1
kind: ReplicationController
metadata: {name: work}
spec:
  replicas: 0
  selector: {app: work}
  template:
    metadata: {labels: {app: work}}
    spec: {containers: [{name: main, image: main}]}
`, bind("it", "EVIL", "{apiVersion: v1, kind: ReplicationController, name: work}"))
	}},
	{name: "Pod", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		w.apply(t, addressed)
		pod := w.apply(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: work}\nspec: {containers: [{name: main, image: main}]}\n")[0]
		ab := w.apply(t, bind("it", "EVIL", "{apiVersion: v1, kind: Pod, name: work}"))[0]
		w.Await(t, ab, reconciled("SubjectsBound"))
		containers, _, _ := unstructured.NestedSlice(w.Await(t, pod, harness.Exists).Object, "spec", "containers")
		if text := fmt.Sprint(containers); strings.Contains(text, "EVIL") {
			t.Errorf("the Pod got the variable of a binding to Pods: %s", text)
		}
	}},
	{name: "KindsThatHoldNoWorkload", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		w.apply(t, addressed)
		objects := w.apply(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: work}
---
apiVersion: v1
kind: Secret
metadata: {name: work}
stringData: {token: "`+harness.Canary(t)+`"}
`)
		// Not the tenant's to create, but the operator's to leave alone.
		objects = append(objects, w.Apply(t, w.ns, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: work}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: work}
`)...)
		for _, subject := range []string{
			"{apiVersion: v1, kind: ConfigMap, name: work}", "{apiVersion: v1, kind: Secret, name: work}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, name: work}", "{apiVersion: coordination.k8s.io/v1, kind: Lease, name: work}",
			"{apiVersion: v1, kind: Namespace, name: " + w.victim + "}", "{apiVersion: v1, kind: Node, selector: {}}",
			"{apiVersion: samples.knative.dev/v1, kind: AddressBinding, name: it}",
			"{apiVersion: samples.knative.dev/v1, kind: AddressableService, name: address}",
		} {
			for _, ref := range objects {
				w.Throughout(t, ref, w.Unchanged(t, ref), func() {
					for _, ab := range w.try(t, bind("it", "EVIL", subject)) {
						w.Await(t, ab, reconciled("SubjectsBound"))
					}
				})
			}
		}
	}},
}

// leftAlone fails if a workload changes from its creation on, while a binding is created in its namespace, reconciled and deleted.
func leftAlone(t *testing.T, w *tenant, workload, binding string) {
	t.Helper()
	w.apply(t, addressed)
	ab := w.apply(t, binding)[0]
	w.Await(t, ab, reconciled("SubjectsBound"))
	work := w.apply(t, workload)[0]
	if created := w.Await(t, work, harness.Exists); hasVariable("EVIL")(created) == nil && !strings.Contains(workload, "EVIL") {
		t.Errorf("admission added the variable")
	}
	w.Throughout(t, work, w.Unchanged(t, work), func() {
		w.served(t)
		// The generation is new, so the binding is reconciled again.
		w.as.Patch(t, ab, `{"spec": {"address": {"name": "none"}}}`)
		w.Await(t, ab, harness.HasCondition("AddressResolved", "False", ""))
		w.as.Patch(t, ab, `{"spec": {"address": {"name": "address"}}}`)
		w.Await(t, ab, harness.HasCondition("AddressResolved", "True", ""))
		w.as.Delete(t, ab)
		w.Await(t, ab, harness.Deleted)
	})
}
