/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/tracker"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	samplesv1listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
)

const (
	theVariable = "K_ADDRESS"
	theValue    = "http://a.example"
)

// plurals are the resources of the kinds of these tests.
var plurals = map[string]string{
	"Deployment": "deployments", "StatefulSet": "statefulsets", "CronJob": "cronjobs", "Job": "jobs", "Radius": "radii", "Runner": "runners",
}

// bindingTo returns a binding that counts, for objects of a kind that are labeled app=a.
func bindingTo(apiVersion, kind string, options ...func(*v1.AddressBinding)) *v1.AddressBinding {
	b := &v1.AddressBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "to-" + kind},
		Spec: v1.AddressBindingSpec{
			Subject:  tracker.Reference{APIVersion: apiVersion, Kind: kind, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}},
			Variable: theVariable,
		},
		Status: v1.AddressBindingStatus{
			Value: theValue, Kinds: []v1.SubjectKind{{APIVersion: apiVersion, Kind: kind, Resource: plurals[kind]}},
		},
	}
	for _, option := range options {
		option(b)
	}
	return b
}

func goingBinding(b *v1.AddressBinding) { b.DeletionTimestamp = new(metav1.NewTime(time.Unix(1, 0))) }

// crd defines a namespaced kind of example.com at v1.
func crd(kind, plural string, options ...func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{
			Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}},
		},
	}
	for _, option := range options {
		option(crd)
	}
	return crd
}

// bindingConfiguration is as it is applied, with two webhooks.
func bindingConfiguration() *admissionregistrationv1.MutatingWebhookConfiguration {
	entry := func(name string) admissionregistrationv1.MutatingWebhook {
		return admissionregistrationv1.MutatingWebhook{
			Name:              name,
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "ns", Name: "webhook"}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{name: "true"}},
		}
	}
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: binding.WebhookName},
		Webhooks:   []admissionregistrationv1.MutatingWebhook{entry("first"), entry("second")},
	}
}

func certificateSecret(ca string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}}
	if ca != "" {
		secret.Data = map[string][]byte{certresources.CACert: []byte(ca)}
	}
	return secret
}

// newBindingAdmission is the leader, in a cluster with these objects. The client has the webhook configurations among them.
func newBindingAdmission(t *testing.T, objects ...runtime.Object) (*bindingAdmission, *fake.Clientset) {
	t.Helper()
	indexer := func() cache.Indexer {
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	bindings, mutating, secrets, crds := indexer(), indexer(), indexer(), indexer()
	client := fake.NewClientset()
	for _, object := range objects {
		var err error
		switch object := object.(type) {
		case *v1.AddressBinding:
			err = bindings.Add(object)
		case *corev1.Secret:
			err = secrets.Add(object)
		case *apiextensionsv1.CustomResourceDefinition:
			err = crds.Add(object)
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			err = mutating.Add(object)
			if err == nil {
				err = client.Tracker().Add(object.DeepCopy())
			}
		default:
			t.Fatalf("the test has a %T", object)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b := &bindingAdmission{
		client:     client,
		bindings:   samplesv1listers.NewAddressBindingLister(bindings),
		mutating:   admissionlisters.NewMutatingWebhookConfigurationLister(mutating),
		crds:       apiextensionslisters.NewCustomResourceDefinitionLister(crds),
		secrets:    corev1listers.NewSecretLister(secrets).Secrets("ns"),
		key:        types.NamespacedName{Name: binding.WebhookName},
		secretName: "certs",
	}
	if err := b.Promote(reconciler.UniversalBucket(), nil); err != nil {
		t.Fatal(err)
	}
	return b, client
}

func createErr[T any](_ T, err error) error { return err }

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, wait.ForeverTestTimeout, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
