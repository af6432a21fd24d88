/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	secretfactory "knative.dev/pkg/injection/clients/namespacedkube/informers/factory"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	_ "knative.dev/pkg/system/testing"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

const configuration = "hooks.example.com"

// now is the time at which the certificate of certs was created.
var now = time.Now()

// reconcileRegistration reconciles a registration once with these objects. It returns the client and the error.
func reconcileRegistration(t *testing.T, wanted registration, isLeader bool, failure error, objects ...runtime.Object) (*fake.Clientset, error) {
	t.Helper()
	client := fake.NewClientset(objects...)
	if failure != nil {
		client.PrependReactor("update", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, failure })
	}
	ctx := webhook.WithOptions(context.WithValue(t.Context(), kubeclient.Key{}, client), webhook.Options{SecretName: "certs", ServiceName: "hooks"})
	ctx = context.WithValue(ctx, secretfactory.Key{}, informers.NewSharedInformerFactory(client, 0))
	impl := wanted.newController(ctx, nil)
	if isLeader {
		promoted := impl.Reconciler.(reconciler.LeaderAware).Promote(reconciler.UniversalBucket(), func(reconciler.Bucket, types.NamespacedName) {})
		if promoted != nil {
			t.Fatal(promoted)
		}
	}
	return client, impl.Reconciler.Reconcile(ctx, system.Namespace()+"/certs")
}

// certs returns the Secret with a certificate that is valid for some time from now on, and its CA.
func certs(t *testing.T, service string, valid time.Duration) (secret *corev1.Secret, ca []byte) {
	t.Helper()
	key, cert, ca, err := certresources.CreateCerts(t.Context(), service, system.Namespace(), now.Add(valid))
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: "certs"},
		Data:       map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: ca},
	}, ca
}

func validatingConfiguration(webhooks ...admissionregistrationv1.ValidatingWebhook) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: configuration}, Webhooks: webhooks}
}

func mutatingConfiguration(webhooks ...admissionregistrationv1.MutatingWebhook) *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: configuration}, Webhooks: webhooks}
}

func withCA(name string, ca []byte) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{Name: name, ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: ca}}
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
	secret, ca := certs(t, "hooks", validFor)
	wanted := registration{Name: configuration, Validating: []admissionregistrationv1.ValidatingWebhook{{Name: "a"}, {Name: "b"}}}
	const validating, mutating = "validatingwebhookconfigurations", "mutatingwebhookconfigurations"
	for name, tc := range map[string]struct {
		objects []runtime.Object
		want    []string
	}{
		"without webhooks": {[]runtime.Object{secret, validatingConfiguration(), mutatingConfiguration()}, []string{validating}},
		"another CA":       {[]runtime.Object{secret, validatingConfiguration(withCA("a", ca), withCA("b", []byte("old")))}, []string{validating}},
		"complete":         {[]runtime.Object{secret, validatingConfiguration(withCA("a", ca), withCA("b", ca))}, nil},
		"a webhook of a binding before": {
			[]runtime.Object{secret, validatingConfiguration(withCA("a", ca), withCA("b", ca)), mutatingConfiguration(admissionregistrationv1.MutatingWebhook{Name: "c"})},
			[]string{mutating},
		},
		"no configuration": {[]runtime.Object{secret}, nil},
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
			want := []admissionregistrationv1.ValidatingWebhook{withCA("a", ca), withCA("b", ca)}
			if diff := cmp.Diff(want, after.Webhooks); err != nil || diff != "" {
				t.Errorf("%v\n-want, +got:\n%s", err, diff)
			}
		})
	}
}

func TestRegistration_ReplicaThatDoesNotLead_WritesNothing(t *testing.T) {
	secret, _ := certs(t, "hooks", validFor)
	client, err := reconcileRegistration(t, registration{Name: configuration, Validating: []admissionregistrationv1.ValidatingWebhook{{Name: "a"}}}, false, nil,
		secret, validatingConfiguration())
	if !controller.IsSkipKey(err) || len(writes(client)) > 0 {
		t.Errorf("the result is %v, and it wrote %q", err, writes(client))
	}
}

func TestRegistration_WriteFails_IsRepeated(t *testing.T) {
	secret, _ := certs(t, "hooks", validFor)
	wanted := registration{
		Name: configuration, Validating: []admissionregistrationv1.ValidatingWebhook{{Name: "a"}}, Mutating: []admissionregistrationv1.MutatingWebhook{{Name: "b"}},
	}
	failure := errors.New("induced")
	_, err := reconcileRegistration(t, wanted, true, failure, secret, validatingConfiguration(), mutatingConfiguration())
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		if !errors.Is(err, failure) || controller.IsPermanentError(err) || !strings.Contains(err.Error(), "writing the "+kind+" "+configuration) {
			t.Errorf("the error is %v, want one that names the %s", err, kind)
		}
	}
}

func TestRegistration_CertificateIsUnusable_IsReplaced(t *testing.T) {
	wanted := registration{Name: configuration, Validating: []admissionregistrationv1.ValidatingWebhook{{Name: "a"}}}
	empty := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: "certs"}}
	another, _ := certs(t, "another", validFor)
	expiring, _ := certs(t, "hooks", renewBefore-time.Hour)
	mixed, _ := certs(t, "hooks", validFor)
	mixed.Data[certresources.CACert] = another.Data[certresources.CACert]
	for name, secret := range map[string]*corev1.Secret{"Empty": empty, "AnotherHost": another, "Expires": expiring, "AnotherCA": mixed} {
		t.Run(name, func(t *testing.T) {
			client, err := reconcileRegistration(t, wanted, true, nil, secret, validatingConfiguration())
			if err != nil {
				t.Fatal(err)
			}
			stored, err := client.CoreV1().Secrets(system.Namespace()).Get(t.Context(), "certs", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r := &registrar{service: "hooks", secret: types.NamespacedName{Namespace: system.Namespace(), Name: "certs"}}
			if err := r.check(stored.Data, now.Add(validFor-time.Hour)); err != nil {
				t.Errorf("the new certificate: %v", err)
			}
			configured, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), configuration, metav1.GetOptions{})
			if want := []admissionregistrationv1.ValidatingWebhook{withCA("a", stored.Data[certresources.CACert])}; err != nil || !cmp.Equal(configured.Webhooks, want) {
				t.Errorf("the webhooks are %v, %v, want the new CA", configured.Webhooks, err)
			}
		})
	}
}

func TestRegistration_SecretIsMissing_IsAnError(t *testing.T) {
	_, err := reconcileRegistration(t, registration{Name: configuration}, true, nil, validatingConfiguration())
	if err == nil || !strings.Contains(err.Error(), "reading the Secret of the certificate, which has to exist") {
		t.Errorf("the error is %v", err)
	}
}
