//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenants

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestMain(m *testing.M) { harness.Main(m, harness.AllVersions()) }

const directory = "knative-samples-directory"

// cluster is an environment with a victim in it: a namespace with an object of each kind, each of them Ready.
type cluster struct {
	*harness.Env

	// webhooks reports whether the operator's webhooks are in force, and convert the older versions.
	webhooks bool
	// victim is the namespace that every attack aims at.
	victim string
	// owner and deployment are the victim's AddressableService and SimpleDeployment.
	owner, deployment *unstructured.Unstructured
	// untouched are the conditions that nothing of the victim has been written to.
	untouched map[harness.Ref]harness.Condition
}

// tenant is a user with the ClusterRole edit in its own namespace, and no other permission.
type tenant struct {
	*cluster

	// as is the environment with the tenant's permissions.
	as *harness.Env
	ns string

	// pod reaches the webhook at an address, as any Pod does; see asPod.
	pod     *http.Client
	webhook string
}

const optIn = `{"metadata": {"labels": {"bindings.knative.dev/include": "true"}}}`

func namespaceRef(name string) harness.Ref {
	return harness.Ref{Resource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Name: name}
}

const victimObjects = target + "---" + `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: victim
  annotations: {samples.knative.dev/addressableservice.class: mallard}
  finalizers: [samples.knative.dev/addressableservice]
spec:
  visibility: ClusterLocal
  ref: {apiVersion: v1, kind: Service, name: target}
  publish: {alias: victim}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: victim}
spec:
  selector: {matchLabels: {app: victim}}
  template:
    metadata: {labels: {app: victim}}
    spec:
      containers: [{name: main, image: main}]
---
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata:
  name: victim
  finalizers: [samples.knative.dev/addressbinding]
spec:
  subject: {apiVersion: apps/v1, kind: Deployment, name: victim}
  address: {name: victim}
  variable: K_ADDRESS
---
apiVersion: samples.knative.dev/v1alpha1
kind: SimpleDeployment
metadata: {name: victim}
spec: {image: victim, replicas: 2}
`

const target = `
apiVersion: v1
kind: Service
metadata: {name: target}
spec:
  ports: [{name: http, port: 80}]
`

// newCluster creates the victim.
func newCluster(t *testing.T, env *harness.Env, webhooks bool) *cluster {
	t.Helper()
	c := &cluster{Env: env, webhooks: webhooks, victim: env.Namespace(t), untouched: map[harness.Ref]harness.Condition{}}
	env.Patch(t, namespaceRef(c.victim), optIn)
	refs := env.Apply(t, c.victim, victimObjects)
	c.owner = env.Await(t, refs[1], harness.Ready)
	env.Await(t, refs[2], hasVariable("K_ADDRESS"))
	env.Await(t, refs[3], harness.HasCondition("SubjectsBound", "True", ""))
	c.deployment = env.Await(t, refs[4], harness.Ready)
	for _, ref := range append(refs, serviceRef(directory, "victim")) {
		c.untouched[ref] = env.Unchanged(t, ref)
	}
	return c
}

// newTenant creates a tenant with a namespace.
func (c *cluster) newTenant(t *testing.T) *tenant {
	t.Helper()
	ns := c.Namespace(t)
	user := "tenant-of-" + ns
	c.Apply(t, ns, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %q}]
`, user))
	w := &tenant{cluster: c, as: c.As(t, user), ns: ns}
	harness.Eventually(t, "the permissions of "+user, func(ctx context.Context) error {
		_, err := w.as.Kube.CoreV1().Services(ns).List(ctx, metav1.ListOptions{})
		if err == nil {
			_, err = fixtures.Client(w.as).SamplesV1().AddressBindings(ns).List(ctx, metav1.ListOptions{})
		}
		return err
	})
	return w
}

// optIn is done by an administrator: the namespace's labels are not the tenant's to write.
func (w *tenant) optIn(t *testing.T) {
	t.Helper()
	w.Patch(t, namespaceRef(w.ns), optIn)
}

// apply applies manifests with the tenant's permissions, which have to suffice.
func (w *tenant) apply(t *testing.T, manifests string) []harness.Ref {
	t.Helper()
	return w.as.Apply(t, w.ns, manifests)
}

// try applies a manifest with the tenant's permissions, and returns what was accepted: an attack that is rejected has failed as well.
func (w *tenant) try(t *testing.T, manifests string) []harness.Ref {
	t.Helper()
	refs, err := w.as.TryApply(t, w.ns, manifests)
	if err != nil {
		t.Logf("rejected: %v", err)
	}
	return refs
}

// release lets go what a finalizer of the tenant's holds, so that the namespace can be deleted.
func (w *tenant) release(t *testing.T, ref harness.Ref) {
	t.Helper()
	_, err := w.Dynamic.Resource(ref.Resource).Namespace(ref.Namespace).Patch(context.WithoutCancel(t.Context()), ref.Name,
		types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("removing the finalizers of %s: %v", ref, err)
	}
}

// served returns once the controller has reconciled an object that the tenant creates now, and with it the events that the informers
// delivered before.
func (w *tenant) served(t *testing.T) {
	t.Helper()
	refs := w.apply(t, target+"---"+service("fence", "{apiVersion: v1, kind: Service, name: target}"))
	w.Await(t, refs[1], harness.Ready)
}

// service is the manifest of an AddressableService with the class and the finalizer that admission sets.
func service(name, ref string, more ...string) string {
	return fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: %s
  annotations: {samples.knative.dev/addressableservice.class: mallard}
  finalizers: [samples.knative.dev/addressableservice]
spec:
  visibility: ClusterLocal
  ref: %s
  %s
`, name, ref, strings.Join(more, "\n  "))
}

// bind is the manifest of an AddressBinding of the AddressableService address.
func bind(name, variable, subject string) string {
	return fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata:
  name: %s
  finalizers: [samples.knative.dev/addressbinding]
spec:
  subject: %s
  address: {name: address}
  variable: %s
`, name, subject, variable)
}

// addressed is an AddressableService named address that is Ready at once, with its target.
var addressed = target + "---" + service("address", "{apiVersion: v1, kind: Service, name: target}")

func serviceRef(namespace, name string) harness.Ref {
	return harness.Ref{Resource: schema.GroupVersionResource{Version: "v1", Resource: "services"}, Namespace: namespace, Name: name}
}

// hasVariable is the condition of a workload whose first container has an environment variable.
func hasVariable(name string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		for _, c := range containers {
			container, _ := c.(map[string]any)
			env, _ := container["env"].([]any)
			for _, v := range env {
				if variable, _ := v.(map[string]any); variable["name"] == name {
					return nil
				}
			}
		}
		return fmt.Errorf("no container has the environment variable %s", name)
	}
}

// TestTenant_WithWebhook_StaysInsideItsNamespace runs every attack while the operator is complete.
func TestTenant_WithWebhook_StaysInsideItsNamespace(t *testing.T) {
	t.Parallel()
	attackAll(t, newCluster(t, harness.Shared(t), true))
}

// TestTenant_WithoutWebhook_StaysInsideItsNamespace runs every attack while no webhook is in force, so that the API server admits what
// admission would reject.
func TestTenant_WithoutWebhook_StaysInsideItsNamespace(t *testing.T) {
	t.Parallel()
	attackAll(t, newCluster(t, harness.Own(t, harness.WithoutWebhooks("webhook")), false))
}

type attack struct {
	name string
	// webhook reports whether the attack is on the webhook itself, or needs its conversions.
	webhook bool
	do      func(*testing.T, *tenant)
}

func attackAll(t *testing.T, c *cluster) {
	t.Helper()
	// A group, so that the victim is looked at when all attacks have ended.
	t.Run("Attacks", func(t *testing.T) {
		for _, a := range slices.Concat(namespaceAttacks, workloadAttacks, readAttacks) {
			if a.webhook && !c.webhooks {
				continue
			}
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				a.do(t, c.newTenant(t))
			})
		}
	})
	for ref, untouched := range c.untouched {
		c.Throughout(t, ref, untouched, func() {})
	}
}
