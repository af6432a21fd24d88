/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	validatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/internal/process"
)

// reachable is the readiness condition that readiness keeps.
const reachable = "the API server cannot reach the webhook yet"

// readiness keeps the process unready until the serving certificate is there and
// its CA is in every webhook configuration: before, the API server would fail
// each request that it sends here.
type readiness struct {
	process    *process.Readiness
	secrets    corev1listers.SecretNamespaceLister
	secretName string
	mutating   admissionlisters.MutatingWebhookConfigurationLister
	validating admissionlisters.ValidatingWebhookConfigurationLister

	mu sync.Mutex
}

// WithReadiness wraps one of the constructors, whichever, for only constructors
// get a context that has the informers. What it adds runs on every replica, leader or
// not, for each has to know of itself.
func WithReadiness(ctor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		if err := watchReadiness(ctx, process.ReadinessFrom(ctx)); err != nil {
			logging.FromContext(ctx).Fatalw("Watching what the webhook's readiness depends on failed", "error", err)
		}
		return ctor(ctx, cmw)
	}
}

func watchReadiness(ctx context.Context, of *process.Readiness) error {
	secrets, mutating, validating := secretinformer.Get(ctx), mutatinginformer.Get(ctx), validatinginformer.Get(ctx)
	r := &readiness{
		process:    of,
		secrets:    secrets.Lister().Secrets(system.Namespace()),
		secretName: webhook.GetOptions(ctx).SecretName,
		mutating:   mutating.Lister(),
		validating: validating.Lister(),
	}
	r.process.Set(reachable, false)

	handler := controller.HandleAll(func(any) { r.update(ctx) })
	for _, informer := range []cache.SharedIndexInformer{secrets.Informer(), mutating.Informer(), validating.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("adding an event handler: %w", err)
		}
	}
	return nil
}

// update looks again. Each informer calls it in a goroutine of its own; one at a
// time, so that what was seen last is what counts.
func (r *readiness) update(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.check()
	if err != nil {
		logging.FromContext(ctx).Infow("Not ready", "reason", err.Error())
	}
	r.process.Set(reachable, err == nil)
}

func (r *readiness) check() error {
	secret, err := r.secrets.Get(r.secretName)
	if err != nil {
		return fmt.Errorf("reading the secret of the certificate: %w", err)
	}
	if _, err := tls.X509KeyPair(secret.Data[certresources.ServerCert], secret.Data[certresources.ServerKey]); err != nil {
		return fmt.Errorf("secret %s holds no certificate: %w", secret.Name, err)
	}
	if len(secret.Data[certresources.CACert]) == 0 {
		return fmt.Errorf("secret %s holds no CA", secret.Name)
	}
	defaulting, err := r.mutating.Get(DefaultingName)
	if err != nil {
		return fmt.Errorf("reading a webhook configuration: %w", err)
	}
	errs := []error{holdsAny(defaulting.Name, len(defaulting.Webhooks))}
	for _, w := range defaulting.Webhooks {
		errs = append(errs, trusts(secret, w.Name, w.ClientConfig, w.Rules))
	}
	for _, name := range []string{ValidationName, ConfigValidationName} {
		validating, err := r.validating.Get(name)
		if err != nil {
			return fmt.Errorf("reading a webhook configuration: %w", err)
		}
		errs = append(errs, holdsAny(name, len(validating.Webhooks)))
		for _, w := range validating.Webhooks {
			errs = append(errs, trusts(secret, w.Name, w.ClientConfig, w.Rules))
		}
	}
	return errors.Join(errs...)
}

// holdsAny checks that a webhook configuration makes the API server ask at all.
func holdsAny(configuration string, webhooks int) error {
	if webhooks == 0 {
		return fmt.Errorf("webhook configuration %s holds no webhook", configuration)
	}
	return nil
}

// trusts checks that a webhook sends requests and trusts the certificate's CA.
func trusts(secret *corev1.Secret, name string, c admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) error {
	if len(rules) == 0 || !bytes.Equal(c.CABundle, secret.Data[certresources.CACert]) {
		return fmt.Errorf("webhook %s does not have our CA or has no rules yet", name)
	}
	return nil
}
