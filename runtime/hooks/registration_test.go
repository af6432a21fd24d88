/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	_ "knative.dev/pkg/system/testing"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/runtime/certificates"
)

const configuration = "hooks.example.com"

// reconcileRegistration reconciles a registration once with these objects. It returns the client and the error.
func reconcileRegistration(t *testing.T, wanted registration, isLeader bool, failure error, objects ...runtime.Object) (*fake.Clientset, error) {
	t.Helper()
	client := fake.NewClientset(objects...)
	if failure != nil {
		client.PrependReactor("update", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, failure })
	}
	ctx := webhook.WithOptions(context.WithValue(t.Context(), kubeclient.Key{}, client), webhook.Options{SecretName: "certs"})
	factory := informers.NewSharedInformerFactory(client, 0)
	of := certificates.Informers{
		Secrets:    factory.Core().V1().Secrets(),
		Mutating:   factory.Admissionregistration().V1().MutatingWebhookConfigurations(),
		Validating: factory.Admissionregistration().V1().ValidatingWebhookConfigurations(),
		CRDs:       apiextensionsinformers.NewSharedInformerFactory(nil, 0).Apiextensions().V1().CustomResourceDefinitions(),
	}
	impl := newRegistrar(ctx, wanted, of)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if isLeader {
		promoted := impl.Reconciler.(reconciler.LeaderAware).Promote(reconciler.UniversalBucket(), func(reconciler.Bucket, types.NamespacedName) {})
		if promoted != nil {
			t.Fatal(promoted)
		}
	}
	return client, impl.Reconciler.Reconcile(ctx, system.Namespace()+"/certs")
}

func certs(ca string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: "certs"}, Data: map[string][]byte{certresources.CACert: []byte(ca)}}
}

func validatingConfiguration(webhooks ...admissionregistrationv1.ValidatingWebhook) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: configuration}, Webhooks: webhooks}
}

func mutatingConfiguration(webhooks ...admissionregistrationv1.MutatingWebhook) *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: configuration}, Webhooks: webhooks}
}

func withCA(name, ca string) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{Name: name, ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: []byte(ca)}}
}

// writes returns the kinds that were updated.
func writes(client *fake.Clientset) (resources []string) {
	for _, action := range client.Actions() {
		if action.GetVerb() == "update" {
			resources = append(resources, action.GetResource().Resource)
		}
	}
	return resources
}

func TestRegistration_Configurations_AreWrittenIfTheyDiffer(t *testing.T) {
	wanted := registration{Name: configuration, Validating: []admissionregistrationv1.ValidatingWebhook{{Name: "a"}, {Name: "b"}}}
	const validating, mutating = "validatingwebhookconfigurations", "mutatingwebhookconfigurations"
	for name, tc := range map[string]struct {
		objects []runtime.Object
		want    []string
	}{
		"without webhooks": {[]runtime.Object{certs("ca"), validatingConfiguration(), mutatingConfiguration()}, []string{validating}},
		"another CA":       {[]runtime.Object{certs("ca"), validatingConfiguration(withCA("a", "ca"), withCA("b", "old"))}, []string{validating}},
		"complete":         {[]runtime.Object{certs("ca"), validatingConfiguration(withCA("a", "ca"), withCA("b", "ca"))}, nil},
		"a webhook of a binding before": {
			[]runtime.Object{certs("ca"), validatingConfiguration(withCA("a", "ca"), withCA("b", "ca")), mutatingConfiguration(admissionregistrationv1.MutatingWebhook{Name: "c"})},
			[]string{mutating},
		},
		"no CA yet":        {[]runtime.Object{certs(""), validatingConfiguration()}, nil},
		"no Secret":        {[]runtime.Object{validatingConfiguration()}, nil},
		"no configuration": {[]runtime.Object{certs("ca")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := reconcileRegistration(t, wanted, true, nil, tc.objects...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, writes(client)); diff != "" {
				t.Errorf("writes (-want, +got):\n%s", diff)
			}
			if len(tc.want) == 0 {
				return
			}
			after, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), configuration, metav1.GetOptions{})
			want := []admissionregistrationv1.ValidatingWebhook{withCA("a", "ca"), withCA("b", "ca")}
			if diff := cmp.Diff(want, after.Webhooks); err != nil || diff != "" {
				t.Errorf("%v\n-want, +got:\n%s", err, diff)
			}
		})
	}
}

func TestRegistration_ReplicaThatDoesNotLead_WritesNothing(t *testing.T) {
	client, err := reconcileRegistration(t, registration{Name: configuration, Validating: []admissionregistrationv1.ValidatingWebhook{{Name: "a"}}}, false, nil,
		certs("ca"), validatingConfiguration())
	if !controller.IsSkipKey(err) || len(writes(client)) > 0 {
		t.Errorf("the result is %v, and it wrote %q", err, writes(client))
	}
}

func TestRegistration_WriteFails_IsRepeated(t *testing.T) {
	wanted := registration{
		Name: configuration, Validating: []admissionregistrationv1.ValidatingWebhook{{Name: "a"}}, Mutating: []admissionregistrationv1.MutatingWebhook{{Name: "b"}},
	}
	failure := errors.New("induced")
	_, err := reconcileRegistration(t, wanted, true, failure, certs("ca"), validatingConfiguration(), mutatingConfiguration())
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		if !errors.Is(err, failure) || controller.IsPermanentError(err) || !strings.Contains(err.Error(), "writing the "+kind+" "+configuration) {
			t.Errorf("the error is %v, want one that names the %s", err, kind)
		}
	}
}
