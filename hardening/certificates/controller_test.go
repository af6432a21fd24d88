/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clientgotesting "k8s.io/client-go/testing"

	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	_ "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition/fake"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	_ "knative.dev/pkg/client/injection/kube/client/fake"
	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	_ "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration/fake"
	validatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration"
	_ "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration/fake"
	"knative.dev/pkg/controller"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	_ "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret/fake"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/system"
	_ "knative.dev/pkg/system/testing"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

// certificate is the data of a Secret with a certificate for a Service.
func certificate(t *testing.T, service string, lifetime time.Duration) map[string][]byte {
	t.Helper()
	key, cert, ca, err := certresources.CreateCerts(t.Context(), service, system.Namespace(), time.Now().Add(lifetime))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: ca}
}

// world has the objects that a controller reads, in their good state.
type world struct {
	secret     *corev1.Secret
	mutating   *admissionregistrationv1.MutatingWebhookConfiguration
	validating *admissionregistrationv1.ValidatingWebhookConfiguration
	crd        *apiextensionsv1.CustomResourceDefinition
}

func newWorld(t *testing.T) *world {
	t.Helper()
	data := certificate(t, "webhook", time.Hour)
	path := "/path"
	client := admissionregistrationv1.WebhookClientConfig{
		CABundle: data[certresources.CACert], Service: &admissionregistrationv1.ServiceReference{Namespace: system.Namespace(), Name: "webhook"},
	}
	// It concerns no kind yet.
	ofNone := *client.DeepCopy()
	ofNone.Service.Path = &path
	other := *client.DeepCopy()
	other.Service.Name, other.CABundle = "another", nil
	rules := []admissionregistrationv1.RuleWithOperations{{}}
	return &world{
		secret: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: "certs"}, Data: data},
		mutating: &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "mutating"},
			Webhooks:   []admissionregistrationv1.MutatingWebhook{{Name: "defaulting", ClientConfig: client, Rules: rules}, {Name: "subjects", ClientConfig: ofNone}},
		},
		validating: &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "validating"},
			Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: "validation", ClientConfig: client, Rules: rules}, {Name: "of others", ClientConfig: other}},
		},
		crd: &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: "ducks.example.com"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{Conversion: &apiextensionsv1.CustomResourceConversion{
				Webhook: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{
					CABundle: data[certresources.CACert], Service: &apiextensionsv1.ServiceReference{Namespace: system.Namespace(), Name: "webhook", Path: &path},
				}},
			}},
		},
	}
}

// cached puts the objects that exist into the caches, in which informers of a process that has not started have nothing.
func (w *world) cached(ctx context.Context, t *testing.T) {
	t.Helper()
	var errs []error
	if w.secret != nil {
		errs = append(errs, secretinformer.Get(ctx).Informer().GetStore().Replace([]any{w.secret}, ""))
	}
	if w.mutating != nil {
		errs = append(errs, mutatinginformer.Get(ctx).Informer().GetStore().Replace([]any{w.mutating}, ""))
	}
	if w.validating != nil {
		errs = append(errs, validatinginformer.Get(ctx).Informer().GetStore().Replace([]any{w.validating}, ""))
	}
	if w.crd != nil {
		errs = append(errs, crdinformer.Get(ctx).Informer().GetStore().Replace([]any{w.crd}, ""))
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func newContext(t *testing.T) context.Context {
	t.Helper()
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	return webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"})
}

func TestReady_OnlyWhenAPIServersTrustTheCertificate(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*world)
		want   string // in the reason; empty means ready
	}{
		"everything is set":          {change: func(*world) {}},
		"no Secret":                  {change: func(w *world) { w.secret = nil }, want: `"certs" not found`},
		"Secret without certificate": {change: func(w *world) { w.secret.Data = nil }, want: "secret certs: "},
		"no configuration":           {change: func(w *world) { w.mutating, w.validating, w.crd = nil, nil, nil }, want: "no webhook configuration refers"},
		"no CA":                      {change: func(w *world) { w.mutating.Webhooks[0].ClientConfig.CABundle = nil }, want: "defaulting: caBundle does not match Secret certs"},
		"another CA":                 {change: func(w *world) { w.validating.Webhooks[0].ClientConfig.CABundle = []byte("x") }, want: "validation: caBundle"},
		"second webhook without CA":  {change: func(w *world) { w.mutating.Webhooks[1].ClientConfig.CABundle = nil }, want: "subjects: caBundle"},
		"no rules":                   {change: func(w *world) { w.validating.Webhooks[0].Rules = nil }, want: "validation has no rules or no path yet"},
		"CRD without CA":             {change: func(w *world) { w.crd.Spec.Conversion.Webhook.ClientConfig.CABundle = nil }, want: "of CRD ducks.example.com: caBundle"},
		"CRD without path": {
			change: func(w *world) { w.crd.Spec.Conversion.Webhook.ClientConfig.Service.Path = nil }, want: "of CRD ducks.example.com has no rules or no path yet",
		},
		"CRD that converts nothing": {change: func(w *world) { w.crd.Spec.Conversion = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, w := newContext(t), newWorld(t)
			tc.change(w)
			w.cached(ctx, t)
			err := NewController(ctx, nil).Reconciler.(*certificates).ready()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// Otherwise all replicas would become unready for one configuration, and no replica would serve requests of the others.
func TestReady_ConfigurationCorruptedLater_StaysReady(t *testing.T) {
	ctx, w := newContext(t), newWorld(t)
	w.cached(ctx, t)
	c := NewController(ctx, nil).Reconciler.(*certificates)
	if err := c.ready(); err != nil {
		t.Fatal(err)
	}
	w.mutating.Webhooks[0].ClientConfig.CABundle = nil
	if err := c.ready(); err != nil {
		t.Errorf("it is unready: %v", err)
	}
	w.secret.Data = certificate(t, "another-host", time.Hour)
	if err := c.ready(); err == nil {
		t.Error("it is ready with a certificate that the API server rejects")
	}
}

func secretOf(ctx context.Context, t *testing.T) *corev1.Secret {
	t.Helper()
	secret, err := kubeclient.Get(ctx).CoreV1().Secrets(system.Namespace()).Get(ctx, "certs", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// The controllers that copy the CA would log errors.
func TestNewController_EmptySecret_IsFilledAtOnce(t *testing.T) {
	ctx := newContext(t)
	empty := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: "certs"}}
	if _, err := kubeclient.Get(ctx).CoreV1().Secrets(system.Namespace()).Create(ctx, empty, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c := NewController(ctx, nil).Reconciler.(*certificates)
	data := secretOf(ctx, t).Data
	if _, err := c.rotation.check(data[certresources.ServerKey], data[certresources.ServerCert], data[certresources.CACert], time.Now()); err != nil {
		t.Errorf("the Secret has no certificate: %v", err)
	}
	// The next process leaves it.
	NewController(ctx, nil)
	if string(secretOf(ctx, t).Data[certresources.ServerCert]) != string(data[certresources.ServerCert]) {
		t.Error("the certificate was replaced")
	}
}

func TestReconcile_Secret_IsWrittenByTheLeaderOnly(t *testing.T) {
	ctx, w := newContext(t), newWorld(t)
	w.cached(ctx, t)
	if _, err := kubeclient.Get(ctx).CoreV1().Secrets(system.Namespace()).Create(ctx, w.secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c := NewController(ctx, nil).Reconciler.(*certificates)
	if err := c.Reconcile(ctx, c.key.String()); !controller.IsSkipKey(err) {
		t.Errorf("without leading: got error %v, want the key to be skipped", err)
	}
	if err := c.Promote(reconciler.UniversalBucket(), func(reconciler.Bucket, types.NamespacedName) {}); err != nil {
		t.Fatal(err)
	}
	if err := c.Reconcile(ctx, c.key.String()); err != nil || len(secretOf(ctx, t).Data[nextCert]) == 0 {
		t.Errorf("leading: got error %v, and the Secret has no next certificate", err)
	}
}

// A ValidatingAdmissionPolicy may quote the object in its message, and any answer in its causes.
func TestReconcile_AnswerQuotesTheKey_IsInNoErrorAndNoLog(t *testing.T) {
	const key = "PRIVATE KEY"
	secrets := schema.GroupResource{Resource: "secrets"}
	for name, tc := range map[string]struct {
		answer error
		is     func(error) bool
	}{
		"policy":   {apierrors.NewForbidden(secrets, "certs", errors.New(key)), apierrors.IsForbidden},
		"conflict": {apierrors.NewConflict(secrets, "certs", errors.New(key)), apierrors.IsConflict},
		"invalid": {
			apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "certs", field.ErrorList{field.Invalid(field.NewPath("data"), key, key)}), apierrors.IsInvalid,
		},
		"busy": {&apierrors.StatusError{ErrStatus: metav1.Status{
			Code: 429, Reason: metav1.StatusReasonTooManyRequests, Message: key, Details: &metav1.StatusDetails{Name: key, RetryAfterSeconds: 7},
		}}, apierrors.IsTooManyRequests},
		"connection": {syscall.ECONNREFUSED, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }},
	} {
		t.Run(name, func(t *testing.T) {
			core, logs := observer.New(zap.DebugLevel)
			ctx, w := logging.WithLogger(newContext(t), zap.New(core).Sugar()), newWorld(t)
			w.secret.Data = nil
			w.cached(ctx, t)
			client := kubeclient.Get(ctx).(*fake.Clientset)
			if _, err := client.CoreV1().Secrets(system.Namespace()).Create(ctx, w.secret, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			client.PrependReactor("update", "secrets", func(clientgotesting.Action) (bool, runtime.Object, error) { return true, nil, tc.answer })
			c := NewController(ctx, nil).Reconciler.(*certificates)
			if err := c.Promote(reconciler.UniversalBucket(), func(reconciler.Bucket, types.NamespacedName) {}); err != nil {
				t.Fatal(err)
			}
			err := c.Reconcile(ctx, c.key.String())
			if err == nil || !tc.is(err) || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err)), key) {
				t.Errorf("error: %+v", err)
			}
			if text := fmt.Sprint(logs.All()); strings.Contains(text, key) {
				t.Errorf("log: %s", text)
			}
		})
	}
}

// Each object is delivered by a separate informer, and an event of each continues the rotation.
func TestController_CertificateNearExpiry_IsRotated(t *testing.T) {
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"})
	w := newWorld(t)
	old := w.secret.Data[certresources.ServerCert]
	secrets, configurations := kubeclient.Get(ctx).CoreV1().Secrets(system.Namespace()), kubeclient.Get(ctx).AdmissionregistrationV1().MutatingWebhookConfigurations()
	if _, err := secrets.Create(ctx, w.secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := configurations.Create(ctx, w.mutating, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	impl, ended := NewController(ctx, nil), make(chan struct{})
	stopped, err := reconcilertesting.RunAndSyncInformers(ctx, informers...)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		_ = impl.RunContext(ctx, 1)
	}()
	t.Cleanup(func() { cancel(); <-ended; stopped() })
	if err := impl.Reconciler.(reconciler.LeaderAware).Promote(reconciler.UniversalBucket(), impl.MaybeEnqueueBucketKey); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the next certificate is announced", func() bool { return len(secretOf(ctx, t).Data[nextCert]) > 0 })
	if got := secretOf(ctx, t).Data; string(got[certresources.ServerCert]) != string(old) {
		t.Error("it is served before any API server can trust it")
	}
	eventually(t, "it is served", func() bool {
		// The client does not reject an update from an old cache, which announces another certificate.
		changed, secret := w.mutating.DeepCopy(), secretOf(ctx, t)
		for i := range changed.Webhooks {
			changed.Webhooks[i].ClientConfig.CABundle = secret.Data[certresources.CACert]
		}
		if _, err := configurations.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		return string(secret.Data[certresources.ServerCert]) != string(old)
	})
}

func TestController_CertificateExpiry_IsAMetric(t *testing.T) {
	// The first provider of a process takes over the metrics of other tests, and the second one none.
	otel.SetMeterProvider(sdkmetric.NewMeterProvider())
	reader := sdkmetric.NewManualReader()
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	ctx, w := newContext(t), newWorld(t)
	w.cached(ctx, t)
	_, chain, err := NewController(ctx, nil).Reconciler.(*certificates).serving()
	if err != nil {
		t.Fatal(err)
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil || len(all.ScopeMetrics) != 1 {
		t.Fatalf("got error %v and %v", err, all)
	}
	got := all.ScopeMetrics[0].Metrics[0]
	if gauge, ok := got.Data.(metricdata.Gauge[int64]); !ok || got.Name != "webhook.certificate.expiry.timestamp" || gauge.DataPoints[0].Value != chain[0].NotAfter.Unix() {
		t.Errorf("the metric is %v, want the end of the certificate, %d", got, chain[0].NotAfter.Unix())
	}
}

func createErr[T any](_ T, err error) error { return err }

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, wait.ForeverTestTimeout, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
