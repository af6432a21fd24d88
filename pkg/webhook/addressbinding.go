/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/observe"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	addressbindinginformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressbinding"
	samplesv1listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
	"github.com/mallard-dev/mallard/runtime/certificates"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// bindingPath is the path of admission requests for the subjects of bindings.
const bindingPath = "/binding"

// bindingAdmission gives objects their variables at admission, so that a new one never runs without them, and writes the rules by which
// the API server calls it. It replaces knative.dev/pkg/webhook/psbinding, for the reasons in docs/adr/0009.
type bindingAdmission struct {
	reconciler.LeaderAwareFuncs

	client        kubernetes.Interface
	bindings      samplesv1listers.AddressBindingLister
	mutating      admissionlisters.MutatingWebhookConfigurationLister
	crds          apiextensionslisters.CustomResourceDefinitionLister
	secrets       corev1listers.SecretNamespaceLister
	configuration types.NamespacedName
	secretName    string
	// synced report whether the caches were filled.
	synced []cache.InformerSynced
}

var (
	_ controller.Reconciler       = (*bindingAdmission)(nil)
	_ reconciler.LeaderAware      = (*bindingAdmission)(nil)
	_ webhook.AdmissionController = (*bindingAdmission)(nil)
)

// NewBindingController serves the admission of subjects of AddressBindings. Every replica answers requests; the leader keeps the rules
// and the CA in the webhook configuration binding.WebhookName, which has to exist.
func NewBindingController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)
	bindings, mutating := addressbindinginformer.Get(ctx), mutatinginformer.Get(ctx)
	crds, secrets := crdinformer.Get(ctx), secretinformer.Get(ctx)
	b := &bindingAdmission{
		client:        kubeclient.Get(ctx),
		bindings:      bindings.Lister(),
		mutating:      mutating.Lister(),
		crds:          crds.Lister(),
		secrets:       secrets.Lister().Secrets(system.Namespace()),
		configuration: types.NamespacedName{Name: binding.WebhookName},
		secretName:    webhook.GetOptions(ctx).SecretName,
		synced:        []cache.InformerSynced{bindings.Informer().HasSynced, crds.Informer().HasSynced},
	}
	b.PromoteFunc = func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(bucket, b.configuration)
		return nil
	}
	const name = "Bindings"
	impl := controller.NewContext(ctx, b, controller.ControllerOptions{Concurrency: 1, WorkQueueName: name, Logger: logger.Named(name)})

	if err := errors.Join(
		// The conversion controller updates the CRDs of our kinds as they are in this cache.
		crds.Informer().SetTransform(restmapping.TrimExcept(served.convertedCRDs()...)),
		observe.NewTriggers(name).Wire(ctx, impl, observe.Guards{},
			observe.For(observe.Injected[*admissionregistrationv1.MutatingWebhookConfiguration](mutatinginformer.Get),
				func(c *admissionregistrationv1.MutatingWebhookConfiguration) bool {
					return c.Name == binding.WebhookName
				}),
			observe.Maps(observe.Injected[*v1.AddressBinding](addressbindinginformer.Get, observe.Transform(observe.DropManagedFields)),
				func(*v1.AddressBinding) []types.NamespacedName { return []types.NamespacedName{b.configuration} }),
			observe.Maps(observe.Injected[*corev1.Secret](secretinformer.Get), func(s *corev1.Secret) []types.NamespacedName {
				if s.Name != b.secretName {
					return nil
				}
				return []types.NamespacedName{b.configuration}
			})),
	); err != nil {
		logger.Fatalw("Wiring the controller failed", "error", err)
	}
	return impl
}

// Path implements webhook.AdmissionController.
func (b *bindingAdmission) Path() string { return bindingPath }

// Reconcile implements controller.Reconciler.
func (b *bindingAdmission) Reconcile(ctx context.Context, key string) error {
	if !b.IsLeaderFor(b.configuration) {
		return controller.NewSkipKey(key)
	}
	logger := logging.FromContext(ctx)
	configuration, err := b.mutating.Get(binding.WebhookName)
	if apierrors.IsNotFound(err) {
		logger.Errorw("The webhook configuration of bindings does not exist; apply config/ again", "name", binding.WebhookName)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the webhook configuration of bindings: %w", err)
	}
	ca, ok := certificates.CA(ctx, b.secrets, b.secretName)
	if !ok {
		return nil // with rules and without a CA every request would fail
	}
	rules, err := b.rules()
	if err != nil {
		return err
	}
	return b.write(ctx, configuration, rules, ca)
}

// write updates the rules, the path and the CA of every webhook, and leaves the rest of the configuration alone.
func (b *bindingAdmission) write(ctx context.Context, present *admissionregistrationv1.MutatingWebhookConfiguration,
	rules []admissionregistrationv1.RuleWithOperations, ca []byte,
) error {
	wanted := present.DeepCopy()
	for i := range wanted.Webhooks {
		entry := &wanted.Webhooks[i]
		if entry.ClientConfig.Service == nil {
			return fmt.Errorf("webhook configuration %s: webhooks[%d].clientConfig.service is missing; apply config/ again", binding.WebhookName, i)
		}
		entry.Rules, entry.ClientConfig.Service.Path, entry.ClientConfig.CABundle = rules, new(bindingPath), ca
	}
	if equality.Semantic.DeepEqual(present, wanted) {
		return nil
	}
	logging.FromContext(ctx).Infow("Writing the webhook configuration of bindings", "rules", len(rules))
	if _, err := b.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Update(ctx, wanted, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the webhook configuration of bindings: %w", err)
	}
	return nil
}
