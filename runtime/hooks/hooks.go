/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"time"

	"go.uber.org/zap"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
	knativewebhook "knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/runtime/admission"
	"github.com/mallard-dev/mallard/runtime/certificates"
	"github.com/mallard-dev/mallard/runtime/process"
)

// Webhook are the environment variables of a process whose hooks answer admission reviews. The name of its webhook configurations is NAME.NAMESPACE,
// those of its Service.
type Webhook struct {
	Name        process.Label    `envconfig:"WEBHOOK_NAME" default:"hooks" desc:"name of the Service through which the API server reaches hooks that answer admission reviews"`
	Port        process.Port     `envconfig:"WEBHOOK_PORT" default:"8443" desc:"port that serves admission reviews, if a hook answers any"`
	SecretName  process.Name     `envconfig:"WEBHOOK_SECRET_NAME" default:"hooks-certs" desc:"name of the Secret that holds the serving certificate"`
	GracePeriod process.Duration `envconfig:"WEBHOOK_GRACE_PERIOD" default:"5s" desc:"how long the process serves reviews after it has received SIGTERM"`
}

// Add adds hooks to a process. The error has every mistake in their bindings.
func Add(p *process.Process, options hook.Options, webhook Webhook, all ...*hook.Hook) error {
	newController, err := hook.NewController(options, all...)
	if err != nil {
		return err
	}
	reviews, err := hook.Reviews(options, all...)
	if err != nil {
		return err
	}
	p.Controllers = append(p.Controllers, newController)
	if len(reviews) == 0 {
		return nil
	}
	s := &server{Webhook: webhook, reviews: reviews}
	s.registration.Name = string(webhook.Name) + "." + system.Namespace()
	s.registration.Validating, s.registration.Mutating = hook.Webhooks(reviews,
		admissionregistrationv1.ServiceReference{Namespace: system.Namespace(), Name: string(webhook.Name)})
	p.Controllers = append(p.Controllers, s.newCertificates, s.newRegistration)
	p.Serve = s.serve
	p.Ports = map[string]process.Port{"WEBHOOK_PORT": webhook.Port}
	return nil
}

// server serves reviews.
type server struct {
	Webhook

	reviews      []*hook.Review
	registration registration
	informers    certificates.Informers
}

func (s *server) withOptions(ctx context.Context) context.Context {
	return knativewebhook.WithOptions(ctx, knativewebhook.Options{
		ServiceName: string(s.Name), SecretName: string(s.SecretName), Port: int(s.Port), GracePeriod: time.Duration(s.GracePeriod),
	})
}

// newCertificates starts the informers, and keeps the certificate.
func (s *server) newCertificates(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	secrets, configurations := named(ctx, string(s.SecretName)), named(ctx, s.registration.Name)
	s.informers = certificates.Informers{
		Secrets:    secrets.Core().V1().Secrets(),
		Mutating:   configurations.Admissionregistration().V1().MutatingWebhookConfigurations(),
		Validating: configurations.Admissionregistration().V1().ValidatingWebhookConfigurations(),
		// Never started: hooks convert nothing, so that no CRD is registered.
		CRDs: apiextensionsinformers.NewSharedInformerFactory(nil, 0).Apiextensions().V1().CustomResourceDefinitions(),
	}
	// The webhooks need not be registered for the process to be ready: the leader does that, which may be of a release without them until this
	// replica replaces it. The API server calls those alone that are registered.
	impl := certificates.NewController(process.WithReadiness(s.withOptions(ctx), &process.Readiness{}), s.registration.registered(), s.informers)
	readiness := process.ReadinessFrom(ctx)
	readiness.Set(certificateRead, false)
	secrets.Start(ctx.Done())
	configurations.Start(ctx.Done())
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), s.informers.Secrets.Informer().HasSynced) {
			readiness.Set(certificateRead, true)
		}
	}()
	return impl
}

// certificateRead is the readiness condition for reviews.
const certificateRead = "the secret of the certificate has not been read yet"

// named returns informers that list and watch the objects of a name alone, in the namespace of the process if they have one.
func named(ctx context.Context, name string) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(kubeclient.Get(ctx), controller.GetResyncPeriod(ctx),
		informers.WithNamespace(system.Namespace()), informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}))
}

func (s *server) newRegistration(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return newRegistrar(s.withOptions(ctx), s.registration, s.informers)
}

// serve serves the reviews until ctx ends.
func (s *server) serve(ctx context.Context, webhooks []any) error {
	for _, r := range s.reviews {
		if err := r.Start(ctx); err != nil {
			return err
		}
		webhooks = append(webhooks, &reviewer{path: r.Path(), review: r.Answer})
	}
	// Below, knative.dev/pkg logs each request, the messages of hooks and, at the level debug, their patches, which may have values of Secrets.
	logger := logging.FromContext(ctx).WithOptions(zap.IncreaseLevel(zap.WarnLevel))
	return admission.Serve(s.withOptions(logging.WithLogger(ctx, logger)), s.informers.Secrets, webhooks, failing)
}
