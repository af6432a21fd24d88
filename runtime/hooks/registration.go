/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/runtime/certificates"
)

// registration holds the content of a ValidatingWebhookConfiguration and a MutatingWebhookConfiguration of one name. A configuration without webhooks need
// not exist. The fields that the API server sets by default must be set.
type registration struct {
	Name       string
	Validating []admissionregistrationv1.ValidatingWebhook
	Mutating   []admissionregistrationv1.MutatingWebhook
}

// registered returns the names of the configurations for package certificates.
func (r registration) registered() (all certificates.Registered) {
	if len(r.Validating) > 0 {
		all.Validating = []string{r.Name}
	}
	if len(r.Mutating) > 0 {
		all.Mutating = []string{r.Name}
	}
	return all
}

// registrar reconciles the two configurations.
type registrar struct {
	reconciler.LeaderAwareFuncs
	registration

	client    kubernetes.Interface
	informers certificates.Informers
	secret    types.NamespacedName
}

// newRegistrar keeps the webhooks of a registration, with the CA of the certificate, in configurations that exist.
func newRegistrar(ctx context.Context, wanted registration, informers certificates.Informers) *controller.Impl {
	r := &registrar{
		registration: wanted, client: kubeclient.Get(ctx), informers: informers,
		secret: types.NamespacedName{Namespace: system.Namespace(), Name: webhook.GetOptions(ctx).SecretName},
	}
	r.PromoteFunc = func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(bucket, r.secret)
		return nil
	}
	const name = "Registration"
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{Concurrency: 1, WorkQueueName: name, Logger: logging.FromContext(ctx).Named(name)})
	// One without webhooks is emptied.
	certificates.Registered{Validating: []string{r.Name}, Mutating: []string{r.Name}}.Watch(ctx, informers, func() { impl.EnqueueKey(r.secret) })
	return impl
}

// Reconcile implements controller.Reconciler.
func (r *registrar) Reconcile(ctx context.Context, key string) error {
	if !r.IsLeaderFor(r.secret) {
		return controller.NewSkipKey(key)
	}
	ca, ok := certificates.CA(ctx, r.informers.Secrets.Lister().Secrets(r.secret.Namespace), r.secret.Name)
	if !ok {
		return nil // without a CA every request would fail
	}
	client := r.client.AdmissionregistrationV1()
	return errors.Join(
		keep(ctx, r.Name, len(r.Validating) > 0, r.informers.Validating.Lister().Get, client.ValidatingWebhookConfigurations().Update,
			func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
				c.Webhooks = slices.Clone(r.Validating)
				for i := range c.Webhooks {
					c.Webhooks[i].ClientConfig.CABundle = ca
				}
			}),
		keep(ctx, r.Name, len(r.Mutating) > 0, r.informers.Mutating.Lister().Get, client.MutatingWebhookConfigurations().Update,
			func(c *admissionregistrationv1.MutatingWebhookConfiguration) {
				c.Webhooks = slices.Clone(r.Mutating)
				for i := range c.Webhooks {
					c.Webhooks[i].ClientConfig.CABundle = ca
				}
			}),
	)
}

// keep updates a configuration unless it has the webhooks.
func keep[C interface{ DeepCopy() C }](ctx context.Context, name string, isNeeded bool, get func(string) (C, error),
	update func(context.Context, C, metav1.UpdateOptions) (C, error), setWebhooks func(C),
) error {
	present, err := get(name)
	kind := strings.TrimPrefix(fmt.Sprintf("%T", present), "*v1.")
	if apierrors.IsNotFound(err) {
		if isNeeded {
			logging.FromContext(ctx).Errorw("A webhook configuration does not exist; create it without webhooks", "kind", kind, "name", name)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the %s %s: %w", kind, name, err)
	}
	wanted := present.DeepCopy()
	setWebhooks(wanted)
	if equality.Semantic.DeepEqual(present, wanted) {
		return nil
	}
	logging.FromContext(ctx).Infow("Writing a webhook configuration", "kind", kind, "name", name)
	if _, err := update(ctx, wanted, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the %s %s: %w", kind, name, err)
	}
	return nil
}
