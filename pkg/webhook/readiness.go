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

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	validatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
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
}

// NewReadinessController watches the certificate and the webhook configurations.
// Unlike the other controllers of this process it runs on every replica, for each
// has to know of itself.
func NewReadinessController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	secrets, mutating, validating := secretinformer.Get(ctx), mutatinginformer.Get(ctx), validatinginformer.Get(ctx)
	r := &readiness{
		process:    process.ReadinessFrom(ctx),
		secrets:    secrets.Lister().Secrets(system.Namespace()),
		secretName: webhook.GetOptions(ctx).SecretName,
		mutating:   mutating.Lister(),
		validating: validating.Lister(),
	}
	r.process.Set(reachable, false)

	logger := logging.FromContext(ctx)
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{
		WorkQueueName: "WebhookReadiness", Logger: logger, Concurrency: 1,
	})
	handler := controller.HandleAll(impl.EnqueueSentinel(types.NamespacedName{Name: "webhook"}))
	for _, informer := range []cache.SharedIndexInformer{secrets.Informer(), mutating.Informer(), validating.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			logger.Fatalw("Adding an event handler failed", "error", err)
		}
	}
	return impl
}

// Reconcile implements controller.Reconciler.
func (r *readiness) Reconcile(ctx context.Context, _ string) error {
	err := r.check()
	if err != nil {
		logging.FromContext(ctx).Infow("Not ready", "reason", err.Error())
	}
	r.process.Set(reachable, err == nil)
	return nil
}

func (r *readiness) check() error {
	secret, err := r.secrets.Get(r.secretName)
	if err != nil {
		return fmt.Errorf("reading the secret of the certificate: %w", err)
	}
	if _, err := tls.X509KeyPair(secret.Data[certresources.ServerCert], secret.Data[certresources.ServerKey]); err != nil {
		return fmt.Errorf("secret %s holds no certificate: %w", secret.Name, err)
	}
	defaulting, err := r.mutating.Get(DefaultingName)
	if err != nil {
		return fmt.Errorf("reading a webhook configuration: %w", err)
	}
	var errs []error
	for _, w := range defaulting.Webhooks {
		errs = append(errs, trusts(secret, w.Name, w.ClientConfig, w.Rules))
	}
	for _, name := range []string{ValidationName, ConfigValidationName} {
		validating, err := r.validating.Get(name)
		if err != nil {
			return fmt.Errorf("reading a webhook configuration: %w", err)
		}
		for _, w := range validating.Webhooks {
			errs = append(errs, trusts(secret, w.Name, w.ClientConfig, w.Rules))
		}
	}
	return errors.Join(errs...)
}

// trusts checks that a webhook sends requests and trusts the certificate's CA.
func trusts(secret *corev1.Secret, name string, c admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) error {
	if len(rules) == 0 || !bytes.Equal(c.CABundle, secret.Data[certresources.CACert]) {
		return fmt.Errorf("webhook %s does not have our CA or has no rules yet", name)
	}
	return nil
}
