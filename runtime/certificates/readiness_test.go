/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	apiextensionsclient "knative.dev/pkg/client/injection/apiextensions/client"
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

	"github.com/mallard-dev/mallard/runtime/process"
)

const (
	defaultingName       = "defaulting.webhook.example.com"
	subjectsName         = "subjects.webhook.example.com"
	validationName       = "validation.webhook.example.com"
	configValidationName = "config.webhook.example.com"
	crdName              = "ducks.example.com"
)

var ducks = Registered{
	Mutating: []string{defaultingName, subjectsName}, Validating: []string{validationName, configValidationName}, CRDs: []string{crdName},
}

// injected returns the informers of a process that reads all objects of these kinds.
func injected(ctx context.Context) Informers {
	return Informers{Secrets: secretinformer.Get(ctx), Mutating: mutatinginformer.Get(ctx), Validating: validatinginformer.Get(ctx), CRDs: crdinformer.Get(ctx)}
}

// registered is everything that the reconciler reads, in its good state.
type registered struct {
	secret                     *corev1.Secret
	defaulting, binding        *admissionregistrationv1.MutatingWebhookConfiguration
	validation, configurations *admissionregistrationv1.ValidatingWebhookConfiguration
	crd                        *apiextensionsv1.CustomResourceDefinition
}

func newRegistered(t *testing.T) *registered {
	t.Helper()
	key, cert, ca, err := certresources.CreateCerts(t.Context(), "webhook", "ns", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	client := admissionregistrationv1.WebhookClientConfig{CABundle: ca}
	rules := []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{"CREATE"}}}
	validating := func(name string) *admissionregistrationv1.ValidatingWebhookConfiguration {
		return &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: name, ClientConfig: client, Rules: rules}},
		}
	}
	return &registered{
		secret: &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"},
			Data: map[string][]byte{
				certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: ca,
			},
		},
		defaulting: &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: defaultingName},
			Webhooks:   []admissionregistrationv1.MutatingWebhook{{Name: defaultingName, ClientConfig: client, Rules: rules}},
		},
		// It concerns no kind yet.
		binding: &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: subjectsName},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: subjectsName, ClientConfig: admissionregistrationv1.WebhookClientConfig{
				CABundle: ca, Service: &admissionregistrationv1.ServiceReference{Namespace: "ns", Name: "webhook", Path: new("/subjects")},
			}}},
		},
		validation:     validating(validationName),
		configurations: validating(configValidationName),
		crd: &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: crdName},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{
					CABundle: ca, Service: &apiextensionsv1.ServiceReference{Namespace: "ns", Name: "webhook", Path: new("/conversion")},
				}},
			}},
		},
	}
}

// standby returns a reconciler that does not lead. It reads what is registered through listers, as in the process.
func (r *registered) standby(t *testing.T) *certificates {
	t.Helper()
	// Never started, they hold the objects that are added.
	factory := informers.NewSharedInformerFactory(nil, 0)
	read := Informers{
		Secrets:    factory.Core().V1().Secrets(),
		Mutating:   factory.Admissionregistration().V1().MutatingWebhookConfigurations(),
		Validating: factory.Admissionregistration().V1().ValidatingWebhookConfigurations(),
		CRDs:       apiextensionsinformers.NewSharedInformerFactory(nil, 0).Apiextensions().V1().CustomResourceDefinitions(),
	}
	add := func(informer cache.SharedIndexInformer, obj any) {
		if err := informer.GetIndexer().Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	if r.secret != nil {
		add(read.Secrets.Informer(), r.secret)
	}
	if r.defaulting != nil {
		add(read.Mutating.Informer(), r.defaulting)
	}
	if r.binding != nil {
		add(read.Mutating.Informer(), r.binding)
	}
	if r.validation != nil {
		add(read.Validating.Informer(), r.validation)
	}
	if r.configurations != nil {
		add(read.Validating.Informer(), r.configurations)
	}
	if r.crd != nil {
		add(read.CRDs.Informer(), r.crd)
	}
	return &certificates{
		readiness:  &process.Readiness{},
		key:        types.NamespacedName{Namespace: "ns", Name: "certs"},
		rotation:   rotation{host: serviceHost},
		again:      func(time.Duration) {},
		registered: ducks, informers: read,
		clock: clocktesting.NewFakeClock(time.Now()),
	}
}

func TestReadiness_EveryWebhookTrusted_IsReady(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*registered)
		// want is the expected error; empty means ready.
		want string
	}{
		"everything there":             {func(*registered) {}, ""},
		"no secret":                    {func(r *registered) { r.secret = nil }, "reading the secret"},
		"empty secret":                 {func(r *registered) { r.secret.Data = nil }, "secret certs: there is no certificate"},
		"key of another certificate":   {func(r *registered) { r.secret.Data[certresources.ServerKey] = []byte("x") }, "secret certs: reading the certificate"},
		"secret without CA":            {func(r *registered) { delete(r.secret.Data, certresources.CACert) }, "secret certs: there is no CA"},
		"certificate of another host":  {func(r *registered) { r.secret.Data = certificate(t, "other", time.Hour) }, "secret certs: verifying the certificate"},
		"certificate that has run out": {func(r *registered) { r.secret.Data = certificate(t, "webhook", -time.Minute) }, "secret certs: verifying the certificate"},
		"no defaulting":                {func(r *registered) { r.defaulting = nil }, defaultingName},
		"no validation":                {func(r *registered) { r.validation = nil }, validationName},
		"no validation of ConfigMaps":  {func(r *registered) { r.configurations = nil }, configValidationName},
		"no admission of subjects":     {func(r *registered) { r.binding = nil }, subjectsName},
		"subjects without webhooks":    {func(r *registered) { r.binding.Webhooks = nil }, subjectsName + " has no webhook"},
		"subjects without CA":          {func(r *registered) { r.binding.Webhooks[0].ClientConfig.CABundle = nil }, subjectsName + ": caBundle does not match Secret certs"},
		"subjects without path":        {func(r *registered) { r.binding.Webhooks[0].ClientConfig.Service.Path = nil }, subjectsName + " has no rules or no path yet"},
		"subjects without a service":   {func(r *registered) { r.binding.Webhooks[0].ClientConfig.Service = nil }, subjectsName + " has no rules or no path yet"},
		"subjects with rules":          {func(r *registered) { r.binding.Webhooks[0].Rules = r.defaulting.Webhooks[0].Rules }, ""},
		"defaulting without webhooks":  {func(r *registered) { r.defaulting.Webhooks = nil }, defaultingName + " has no webhook"},
		"validation without webhooks":  {func(r *registered) { r.validation.Webhooks = nil }, validationName + " has no webhook"},
		"defaulting without CA":        {func(r *registered) { r.defaulting.Webhooks[0].ClientConfig.CABundle = nil }, defaultingName + ": caBundle does not match Secret certs"},
		"defaulting with another CA":   {func(r *registered) { r.defaulting.Webhooks[0].ClientConfig.CABundle = []byte("x") }, defaultingName + ": caBundle does not match Secret certs"},
		"validation with another CA":   {func(r *registered) { r.validation.Webhooks[0].ClientConfig.CABundle = []byte("x") }, validationName + ": caBundle does not match Secret certs"},
		"defaulting without rules":     {func(r *registered) { r.defaulting.Webhooks[0].Rules = nil }, "no rules or no path yet"},
		"ConfigMaps without rules":     {func(r *registered) { r.configurations.Webhooks[0].Rules = nil }, configValidationName + " has no rules or no path yet"},
		"second webhook with wrong CA": {addUntrusted, "webhook second: caBundle does not match Secret certs"},
		"no crd":                       {func(r *registered) { r.crd = nil }, crdName},
		"crd without conversion":       {func(r *registered) { r.crd.Spec.Conversion = nil }, crdName + " has no webhook"},
		"crd converted by itself": {func(r *registered) {
			r.crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		}, crdName + " has no webhook"},
		"crd with a URL":                {func(r *registered) { r.crd.Spec.Conversion.Webhook.ClientConfig.Service = nil }, crdName + " has no webhook"},
		"crd without CA":                {func(r *registered) { r.crd.Spec.Conversion.Webhook.ClientConfig.CABundle = nil }, crdName + ": caBundle does not match Secret certs"},
		"crd without path":              {func(r *registered) { r.crd.Spec.Conversion.Webhook.ClientConfig.Service.Path = nil }, crdName + " has no rules or no path yet"},
		"two configurations are behind": {func(r *registered) { r.defaulting.Webhooks[0].Rules, r.validation.Webhooks[0].Rules = nil, nil }, validationName},
	} {
		t.Run(name, func(t *testing.T) {
			state := newRegistered(t)
			tc.change(state)
			r := state.standby(t)
			complaint := reconcile(t, r)
			if got, want := r.readiness.Check() == nil, tc.want == ""; got != want {
				t.Errorf("ready is %t, want %t", got, want)
			}
			if (complaint == "") != (tc.want == "") || !strings.Contains(complaint, tc.want) {
				t.Errorf("what is amiss is %q, want %q", complaint, tc.want)
			}
		})
	}
}

func addUntrusted(r *registered) {
	second := *r.validation.Webhooks[0].DeepCopy()
	second.Name, second.ClientConfig.CABundle = "second", []byte("x")
	r.validation.Webhooks = append(r.validation.Webhooks, second)
}

// reconcile returns the log messages of the reconciler. It fails the test unless the reconciler leaves the Secret to the leader.
func reconcile(t *testing.T, r *certificates) string {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	err := r.Reconcile(logging.WithLogger(t.Context(), zap.New(core).Sugar()), r.key.String())
	if err != nil && !controller.IsSkipKey(err) {
		t.Fatal(err)
	}
	var complaint strings.Builder
	for _, entry := range logs.All() {
		fmt.Fprintln(&complaint, entry.Message, entry.ContextMap())
	}
	return complaint.String()
}

// Otherwise all replicas would become unready for one configuration, and no replica would serve requests of the others.
func TestReadiness_ConfigurationDeleted_StaysReady(t *testing.T) {
	for name, change := range map[string]func(*registered){
		"deleted":    func(r *registered) { r.validation = nil },
		"without CA": func(r *registered) { r.defaulting.Webhooks[0].ClientConfig.CABundle = nil },
	} {
		t.Run(name, func(t *testing.T) {
			state := newRegistered(t)
			r := state.standby(t)
			reconcile(t, r)
			change(state)
			r.informers = state.standby(t).informers
			complaint := reconcile(t, r)
			if err := r.readiness.Check(); err != nil {
				t.Errorf("a process that was ready says: %v", err)
			}
			if !strings.Contains(complaint, "The API server can no longer call every webhook") {
				t.Errorf("the log is %q, want that it reports the change", complaint)
			}
		})
	}
}

func TestReadiness_InvalidCertificate_BecomesUnready(t *testing.T) {
	state := newRegistered(t)
	r := state.standby(t)
	reconcile(t, r)
	good := state.secret.Data
	for _, data := range []map[string][]byte{nil, certificate(t, "other", time.Hour), good} {
		state.secret.Data = data
		complaint := reconcile(t, r)
		if ready := r.readiness.Check() == nil; ready != (len(data) > 0 && string(data[certresources.ServerCert]) == string(good[certresources.ServerCert])) {
			t.Errorf("ready is %t: %s", ready, complaint)
		}
	}
}

func TestReconcile_CertificateEnds_IsNoLongerReady(t *testing.T) {
	state := newRegistered(t)
	r, fake := state.standby(t), clocktesting.NewFakeClock(time.Now())
	r.clock = fake
	var again time.Duration
	r.again = func(after time.Duration) { again = after }
	reconcile(t, r)
	if want := notAfter(t, state.secret.Data).Sub(fake.Now()); r.readiness.Check() != nil || again != want {
		t.Fatalf("readiness is %v, and is checked again after %s, want the end of the certificate in %s", r.readiness.Check(), again, want)
	}
	fake.Step(again + time.Second)
	reconcile(t, r)
	if r.readiness.Check() == nil {
		t.Error("ready with a certificate that has ended")
	}
}

// The process drops all keys while it loses its lease, among them perhaps the one that would have made it unready.
func TestController_Demoted_ChecksReadinessAgain(t *testing.T) {
	ctx, _, _ := reconcilertesting.SetupFakeContextWithCancel(t)
	impl := NewController(webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"}), ducks, injected(ctx))
	r := impl.Reconciler.(*certificates)
	var again time.Duration
	r.again = func(after time.Duration) { again = after }
	r.Demote(reconciler.UniversalBucket())
	if again != afterDemotion {
		t.Errorf("it is reconciled again after %s, want %s", again, afterDemotion)
	}
}

// certificate is the data of a secret with a certificate for a Service of namespace ns.
func certificate(t *testing.T, service string, lifetime time.Duration) map[string][]byte {
	t.Helper()
	key, cert, ca, err := certresources.CreateCerts(t.Context(), service, "ns", time.Now().Add(lifetime))
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: ca}
}

// Each object is delivered by a separate informer, so the last one, whichever it is, has to make the process ready.
func TestReadiness_LastInformerDelivers_BecomesReady(t *testing.T) {
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"})
	impl, ended := NewController(ctx, ducks, injected(ctx)), make(chan struct{})
	of := &process.Readiness{}
	impl.Reconciler.(*certificates).readiness = of
	of.Set(reachable, false)
	go func() {
		defer close(ended)
		_ = impl.Run(ctx)
	}()
	stopped, err := reconcilertesting.RunAndSyncInformers(ctx, informers...)
	t.Cleanup(func() { cancel(); <-ended; stopped() })
	if err != nil {
		t.Fatal(err)
	}

	state, client := newRegistered(t), kubeclient.Get(ctx)
	state.secret.Namespace = system.Namespace()
	key, cert, ca, err := certresources.CreateCerts(ctx, "webhook", system.Namespace(), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	state.secret.Data = map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: ca}
	state.defaulting.Webhooks[0].ClientConfig.CABundle = ca
	state.binding.Webhooks[0].ClientConfig.CABundle = ca
	state.validation.Webhooks[0].ClientConfig.CABundle = ca
	state.configurations.Webhooks[0].ClientConfig.CABundle = ca
	state.crd.Spec.Conversion.Webhook.ClientConfig.CABundle = ca
	create, crds := metav1.CreateOptions{}, apiextensionsclient.Get(ctx).ApiextensionsV1().CustomResourceDefinitions()
	for _, err := range []error{
		createErr(client.CoreV1().Secrets(system.Namespace()).Create(ctx, state.secret, create)),
		createErr(client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx, state.defaulting, create)),
		createErr(client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx, state.binding, create)),
		createErr(client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, state.validation, create)),
		createErr(client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, state.configurations, create)),
		createErr(crds.Create(ctx, state.crd, create)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "ready once every object exists", func() bool { return of.Check() == nil })

	if err := client.CoreV1().Secrets(system.Namespace()).Delete(ctx, "certs", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "not ready without the certificate", func() bool { return of.Check() != nil })
}

func TestWatchRegistration_OthersChange_NothingIsVerified(t *testing.T) {
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"})
	var verified atomic.Int32
	ducks.Watch(ctx, injected(ctx), func() { verified.Add(1) })
	stopped, err := reconcilertesting.RunAndSyncInformers(ctx, informers...)
	t.Cleanup(func() { cancel(); stopped() })
	if err != nil {
		t.Fatal(err)
	}
	state, create := newRegistered(t), metav1.CreateOptions{}
	registration, crds := kubeclient.Get(ctx).AdmissionregistrationV1(), apiextensionsclient.Get(ctx).ApiextensionsV1().CustomResourceDefinitions()
	// For each kind, the foreign object is listed first.
	for _, prefix := range []string{"other-", ""} {
		state.defaulting.Name, state.validation.Name, state.crd.Name = prefix+defaultingName, prefix+validationName, prefix+crdName
		for _, err := range []error{
			createErr(registration.MutatingWebhookConfigurations().Create(ctx, state.defaulting, create)),
			createErr(registration.ValidatingWebhookConfigurations().Create(ctx, state.validation, create)),
			createErr(crds.Create(ctx, state.crd, create)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, "our own objects are verified", func() bool { return verified.Load() >= 3 })
	if got := verified.Load(); got != 3 {
		t.Errorf("%d events lead to a verification, want those of our 3 objects", got)
	}
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
