//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenants

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// namespaceAttacks aim at objects in other namespaces.
var namespaceAttacks = []attack{
	{name: "ReferenceToAServiceOfAnotherNamespace", do: func(t *testing.T, w *tenant) {
		for _, as := range w.try(t, service("it", "{apiVersion: v1, kind: Service, name: target, namespace: "+w.victim+"}")) {
			w.Await(t, as, harness.HasCondition("TargetResolved", "False", v1.ReasonCrossNamespaceDenied), hasNoAddress)
		}
	}},
	{name: "ReferenceToAnAddressOfAnotherNamespace", do: func(t *testing.T, w *tenant) {
		for _, as := range w.try(t, service("it", "{apiVersion: samples.knative.dev/v1, kind: AddressableService, name: victim, namespace: "+w.victim+"}")) {
			w.Await(t, as, harness.HasCondition("TargetResolved", "False", v1.ReasonCrossNamespaceDenied), hasNoAddress)
		}
	}},
	{name: "AliasOfAnotherNamespace", do: func(t *testing.T, w *tenant) {
		as := w.apply(t, target+"---"+service("it", "{apiVersion: v1, kind: Service, name: target}", "publish: {alias: victim}"))[1]
		w.Await(t, as, harness.HasCondition("Published", "False", v1.ReasonAliasTaken))
		// Nor is the alias of another user's object deleted with this one.
		w.as.Delete(t, as)
		w.Await(t, as, harness.Deleted)
	}},
	{name: "AliasOfAServiceThatIsNoAlias", do: func(t *testing.T, w *tenant) {
		foreign := w.Apply(t, directory, plainService("foreign-"+w.ns))[0]
		w.Throughout(t, foreign, w.Unchanged(t, foreign), func() {
			as := w.apply(t, target+"---"+service("it", "{apiVersion: v1, kind: Service, name: target}", "publish: {alias: "+foreign.Name+"}"))[1]
			w.Await(t, as, harness.HasCondition("Published", "False", v1.ReasonAliasTaken))
			w.as.Delete(t, as)
			w.Await(t, as, harness.Deleted)
		})
		w.Delete(t, foreign)
	}},
	{name: "WaitingForTheAliasOfATargetThatIsReplaced", do: func(t *testing.T, w *tenant) {
		alias := "blink-" + w.ns[len(w.ns)-5:]
		published := service("owner", "{apiVersion: v1, kind: Service, name: target}", "publish: {alias: "+alias+"}")
		owner := w.newTenant(t)
		refs := owner.apply(t, target+"---"+published)
		owner.Await(t, refs[1], harness.Ready)
		waiting := w.apply(t, target+"---"+service("it", "{apiVersion: v1, kind: Service, name: target}", "publish: {alias: "+alias+"}"))[1]
		taken := harness.HasCondition("Published", "False", v1.ReasonAliasTaken)
		w.Await(t, waiting, taken)
		w.Throughout(t, serviceRef(directory, alias), w.Unchanged(t, serviceRef(directory, alias)), func() {
			owner.as.Delete(t, refs[0])
			owner.Await(t, refs[1], harness.HasCondition("TargetResolved", "False", v1.ReasonTargetNotFound))
			owner.apply(t, target)
			owner.Await(t, refs[1], harness.Ready)
			w.Await(t, waiting, taken)
		})
	}},
	{name: "ServiceThatClaimsToBeAnAliasOfAnotherNamespace", do: func(t *testing.T, w *tenant) {
		w.apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata:
  name: victim
  labels: {samples.knative.dev/addressableservice-uid: %s}
  annotations: {samples.knative.dev/addressableservice: %s/victim}
spec: {type: ExternalName, externalName: evil.example.com}
`, w.owner.GetUID(), w.victim))
		w.served(t)
	}},
	{name: "AliasInTheDirectoryItself", do: func(t *testing.T, w *tenant) {
		_, err := w.as.TryApply(t, directory, plainService("evil"))
		forbidden(t, "creating a Service in the directory", err)
	}},
	{name: "PodThatClaimsToBeAnotherNamespaces", do: func(t *testing.T, w *tenant) {
		w.apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: victim
  labels: {samples.knative.dev/simpledeployment-uid: %[1]s}
  ownerReferences:
  - {apiVersion: samples.knative.dev/v1alpha1, kind: SimpleDeployment, name: victim, uid: %[1]s, controller: true}
spec:
  containers: [{name: main, image: main}]
`, w.deployment.GetUID()))
		w.served(t)
	}},
	{name: "BindingToASubjectOfAnotherNamespace", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		w.apply(t, addressed)
		w.try(t, bind("it", "EVIL", "{apiVersion: apps/v1, kind: Deployment, name: victim, namespace: "+w.victim+"}"))
		w.served(t)
	}},
	{name: "BindingWithTheNamesOfAnotherNamespace", do: func(t *testing.T, w *tenant) {
		w.optIn(t)
		w.apply(t, addressed)
		ab := w.apply(t, bind("victim", "K_ADDRESS", "{apiVersion: apps/v1, kind: Deployment, name: victim}"))[0]
		w.Await(t, ab, reconciled("SubjectsBound"))
		w.as.Delete(t, ab)
		w.Await(t, ab, harness.Deleted)
	}},
	{name: "StatusWrittenByTheTenant", do: func(t *testing.T, w *tenant) {
		refs := w.apply(t, addressed+"---"+bind("it", "EVIL", "{apiVersion: apps/v1, kind: Deployment, name: none}"))
		for _, ref := range refs[1:] {
			_, err := w.as.Dynamic.Resource(ref.Resource).Namespace(w.ns).Patch(t.Context(), ref.Name, types.MergePatchType,
				[]byte(`{"status": {"address": {"url": "http://evil.example.com"}, "value": "http://evil.example.com"}}`), metav1.PatchOptions{}, "status")
			forbidden(t, "writing the status of "+ref.String(), err)
		}
	}},
	{name: "ConfigurationReadByTheTenant", do: func(t *testing.T, w *tenant) {
		_, err := w.as.Kube.CoreV1().ConfigMaps(w.SystemNamespace).List(t.Context(), metav1.ListOptions{})
		forbidden(t, "listing the ConfigMaps of the operator", err)
		_, err = w.as.Kube.CoreV1().Secrets(w.SystemNamespace).List(t.Context(), metav1.ListOptions{})
		forbidden(t, "listing the Secrets of the operator", err)
	}},
}

// plainService is the manifest of a Service that is no alias.
func plainService(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s}\nspec: {ports: [{port: 80}]}\n", name)
}

func forbidden(t *testing.T, what string, err error) {
	t.Helper()
	if !apierrors.IsForbidden(err) {
		t.Errorf("%s: got error %v, want Forbidden", what, err)
	}
}

// hasNoAddress is the condition of an object whose status shows no address.
func hasNoAddress(o *unstructured.Unstructured) error {
	if url, found, _ := unstructured.NestedFieldNoCopy(o.Object, "status", "address"); found && url != nil {
		return fmt.Errorf("its status has the address %v", url)
	}
	return nil
}

// reconciled is the condition of an object that has been reconciled: a condition of its generation has a verdict or a reason.
func reconciled(kind string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		var unmet error
		for _, status := range []string{"True", "False", "Unknown"} {
			if unmet = harness.HasCondition(kind, status, "")(o); unmet == nil {
				break
			}
		}
		if unmet != nil {
			return unmet
		}
		observed, found, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
		if !found || observed != o.GetGeneration() {
			return fmt.Errorf("its status is of generation %d, and it is at %d", observed, o.GetGeneration())
		}
		return nil
	}
}
