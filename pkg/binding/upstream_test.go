/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	duckv1alpha1 "knative.dev/pkg/apis/duck/v1alpha1"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	_ "knative.dev/pkg/system/testing"
	ducktesting "knative.dev/pkg/testing/duck"
	"knative.dev/pkg/tracker"
	certresources "knative.dev/pkg/webhook/certificates/resources"
	"knative.dev/pkg/webhook/psbinding"
)

// These tests show on knative.dev/pkg why we have no use for the admission controller of webhook/psbinding; see
// docs/adr/0009. Each fails once knative.dev/pkg is fixed.
const stillNeeded = "; is our own admission of subjects still needed for that?"

// upstreamBinding binds the objects of a kind that are labeled app=a.
func upstreamBinding(apiVersion, kind string) psbinding.Bindable {
	return &ducktesting.TestBindable{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: strings.ToLower(kind)},
		Spec: ducktesting.TestBindableSpec{Foo: "bar", BindingSpec: duckv1alpha1.BindingSpec{Subject: tracker.Reference{
			APIVersion: apiVersion, Kind: kind, Namespace: "ns", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}},
		}}},
	}
}

// upstream is psbinding's admission controller after it has reconciled these bindings, and what it has made of its configuration.
func upstream(t *testing.T, bindings ...psbinding.Bindable) (*psbinding.Reconciler, *admissionregistrationv1.MutatingWebhook, error) {
	t.Helper()
	const name = "bindings.example.com"
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: name, ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{}},
		}},
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: "certs"}, Data: map[string][]byte{certresources.CACert: []byte("ca")},
	}
	indexer := func(object runtime.Object) cache.Indexer {
		indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		if err := indexer.Add(object); err != nil {
			t.Fatal(err)
		}
		return indexer
	}
	client := fake.NewClientset(configuration)
	r := psbinding.NewReconciler(name, "/bindings", secret.Name, client,
		admissionlisters.NewMutatingWebhookConfigurationLister(indexer(configuration)), corev1listers.NewSecretLister(indexer(secret)),
		nil, psbinding.WithSelector(psbinding.InclusionSelector))
	r.ListAll = func() ([]psbinding.Bindable, error) { return bindings, nil }
	r.PromoteFunc = func(reconciler.Bucket, func(reconciler.Bucket, types.NamespacedName)) error { return nil }
	if err := r.Promote(reconciler.UniversalBucket(), nil); err != nil {
		t.Fatal(err)
	}
	failure := r.Reconcile(t.Context(), "")
	got, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r, &got.Webhooks[0], failure
}

func upstreamAdmits(t *testing.T, r *psbinding.Reconciler, group, kind, object string) *admissionv1.AdmissionResponse {
	t.Helper()
	return r.Admit(t.Context(), &admissionv1.AdmissionRequest{
		Operation: admissionv1.Update, Namespace: "ns", Kind: metav1.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, Object: runtime.RawExtension{Raw: []byte(object)},
	})
}

const upstreamSubject = `{"metadata":{"namespace":"ns","name":"it","labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`

// A CRD may name its resource as it likes; one of Lens would call it lenses.
func TestUpstream_IrregularPlural_IsGuessedWrong(t *testing.T) {
	_, webhook, err := upstream(t, upstreamBinding("example.com/v1", "Lens"))
	if err != nil {
		t.Fatal(err)
	}
	if resources := webhook.Rules[0].Resources; strings.HasPrefix(resources[0], "lenses") {
		t.Errorf("the rule of Lens is for %v%s", resources, stillNeeded)
	}
}

func TestUpstream_Webhook_IsCalledForSubresources(t *testing.T) {
	_, webhook, err := upstream(t, upstreamBinding("apps/v1", "Deployment"))
	if err != nil {
		t.Fatal(err)
	}
	if resources := webhook.Rules[0].Resources; !slices.Equal(resources, []string{"deployments/*"}) {
		t.Errorf("the rule is for %v%s", resources, stillNeeded)
	}
}

func TestUpstream_OptIn_IsRequiredOfNamespaceAndObject(t *testing.T) {
	_, webhook, err := upstream(t, upstreamBinding("apps/v1", "Deployment"))
	if err != nil {
		t.Fatal(err)
	}
	for what, selector := range map[string]*metav1.LabelSelector{"namespaces": webhook.NamespaceSelector, "objects": webhook.ObjectSelector} {
		if selector == nil || len(selector.MatchExpressions) != 1 || selector.MatchExpressions[0].Key != duck.BindingIncludeLabel {
			t.Errorf("the selector of %s is %v%s", what, selector, stillNeeded)
		}
	}
}

func TestUpstream_OneMalformedBinding_DropsAllBindings(t *testing.T) {
	r, _, err := upstream(t, upstreamBinding("a/b/c", "Deployment"), upstreamBinding("apps/v1", "Deployment"))
	if response := upstreamAdmits(t, r, "apps", "Deployment", upstreamSubject); err == nil || response.Patch != nil {
		t.Errorf("with a malformed binding another one works: %v, %s%s", err, response.Patch, stillNeeded)
	}
}

func TestUpstream_MalformedSubject_IsRejected(t *testing.T) {
	r, _, err := upstream(t, upstreamBinding("example.com/v1", "Duck"))
	if err != nil {
		t.Fatal(err)
	}
	if response := upstreamAdmits(t, r, "example.com", "Duck", `{"metadata":{"namespace":"ns","name":"it"},"spec":{"template":"none"}}`); response.Allowed {
		t.Errorf("an object that is no subject is admitted%s", stillNeeded)
	}
}

func TestUpstream_Subjects_MustHaveAPodTemplate(t *testing.T) {
	r, _, err := upstream(t, upstreamBinding("batch/v1", "CronJob"), upstreamBinding("samples.knative.dev/v1", "SimpleDeployment"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, object := range map[[2]string]string{
		{"batch", "CronJob"}:                        `{"metadata":{"namespace":"ns","name":"it","labels":{"app":"a"}},"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}}}`,
		{"samples.knative.dev", "SimpleDeployment"}: `{"metadata":{"namespace":"ns","name":"it","labels":{"app":"a"}},"spec":{"image":"i"}}`,
	} {
		if response := upstreamAdmits(t, r, kind[0], kind[1], object); strings.Contains(string(response.Patch), "FOO") {
			t.Errorf("a %s gets %s%s", kind[1], response.Patch, stillNeeded)
		}
	}
}

func TestUpstream_SubjectLeavesTheSelector_KeepsTheVariable(t *testing.T) {
	r, _, err := upstream(t, upstreamBinding("apps/v1", "Deployment"))
	if err != nil {
		t.Fatal(err)
	}
	left := fmt.Sprintf(`{"metadata":{"namespace":"ns","name":"it"},"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"FOO","value":%q}]}]}}}}`, "bar")
	if response := upstreamAdmits(t, r, "apps", "Deployment", left); response.Patch != nil {
		t.Errorf("what left the selector gets %s%s", response.Patch, stillNeeded)
	}
	// Otherwise this shows nothing.
	if response := upstreamAdmits(t, r, "apps", "Deployment", upstreamSubject); !strings.Contains(string(response.Patch), "FOO") {
		t.Errorf("a subject gets %s", response.Patch)
	}
}
