/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"fmt"
	"maps"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/pkg/binding"
	addressbindinginformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressbinding"
	samplesv1listers "github.com/mallard-dev/mallard/pkg/client/listers/samples/v1"
)

// bindingAdmission gives objects their variables at admission, so that a new one never runs without them, and writes the rules by which
// the API server calls it. psbinding of knative.dev/pkg does not fit: it guesses plurals, is called for each subresource, rejects objects that it
// cannot read, and needs the opt-in of both the namespace and the object. docs/adr/0009 has the other reasons.
type bindingAdmission struct {
	reconciler.LeaderAwareFuncs

	client     kubernetes.Interface
	bindings   samplesv1listers.AddressBindingLister
	mutating   admissionlisters.MutatingWebhookConfigurationLister
	crds       apiextensionslisters.CustomResourceDefinitionLister
	secrets    corev1listers.SecretNamespaceLister
	key        types.NamespacedName
	secretName string
}

var _ webhook.AdmissionController = (*bindingAdmission)(nil)

// NewBindingController serves the admission of subjects of AddressBindings. Every replica answers requests; the leader keeps the rules
// and the CA in the webhook configuration binding.WebhookName, which has to exist.
func NewBindingController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)
	bindings, mutating := addressbindinginformer.Get(ctx), mutatinginformer.Get(ctx)
	crds, secrets := crdinformer.Get(ctx), secretinformer.Get(ctx)
	b := &bindingAdmission{
		client:     kubeclient.Get(ctx),
		bindings:   bindings.Lister(),
		mutating:   mutating.Lister(),
		crds:       crds.Lister(),
		secrets:    secrets.Lister().Secrets(system.Namespace()),
		key:        types.NamespacedName{Name: binding.WebhookName},
		secretName: webhook.GetOptions(ctx).SecretName,
	}
	b.PromoteFunc = func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(bucket, b.key)
		return nil
	}
	const name = "BindingWebhook"
	impl := controller.NewContext(ctx, b, controller.ControllerOptions{WorkQueueName: name, Logger: logger.Named(name)})

	if err := crds.Informer().SetTransform(binding.WithoutSchemas(served.IsGroupRegistered)); err != nil {
		logger.Fatalw("Setting the transform of CRDs failed", "error", err)
	}
	// The rules are those of all bindings together.
	enqueue := controller.HandleAll(func(any) { impl.EnqueueKey(b.key) })
	bindings.Informer().AddEventHandler(enqueue)
	mutating.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterWithName(binding.WebhookName), Handler: enqueue,
	})
	secrets.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterWithNameAndNamespace(system.Namespace(), b.secretName), Handler: enqueue,
	})
	return impl
}

// Path implements webhook.AdmissionController.
func (*bindingAdmission) Path() string { return "/binding" }

// Reconcile implements controller.Reconciler.
func (b *bindingAdmission) Reconcile(ctx context.Context, key string) error {
	if !b.IsLeaderFor(b.key) {
		return controller.NewSkipKey(key)
	}
	secret, err := b.secrets.Get(b.secretName)
	if err != nil {
		return fmt.Errorf("reading the CA: %w", err)
	}
	ca, ok := secret.Data[certresources.CACert]
	if !ok {
		return fmt.Errorf("secret %s is missing key %s", b.secretName, certresources.CACert)
	}
	present, err := b.mutating.Get(binding.WebhookName)
	if err != nil {
		return fmt.Errorf("reading the webhook configuration of bindings; apply config/ again if it does not exist: %w", err)
	}
	rules := b.rules()
	wanted := present.DeepCopy()
	for i := range wanted.Webhooks {
		entry := &wanted.Webhooks[i]
		if entry.ClientConfig.Service == nil {
			return fmt.Errorf("webhook configuration %s: webhooks[%d].clientConfig.service is missing; apply config/ again", binding.WebhookName, i)
		}
		entry.Rules, entry.ClientConfig.Service.Path, entry.ClientConfig.CABundle = rules, new(b.Path()), ca
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

// rules returns a rule for each resource that the controller has recorded as the subject of a binding: it serves the kind, and the
// controller is able to list it. Subresources are not in them. Equal resources give equal rules.
func (b *bindingAdmission) rules() (rules []admissionregistrationv1.RuleWithOperations) {
	all, _ := b.bindings.List(labels.Everything()) // a cache does not fail
	byResource := map[string]admissionregistrationv1.RuleWithOperations{}
	for _, ab := range all {
		entry, recorded := binding.Recorded(ab, ab.Spec.Subject.GroupVersionKind().GroupKind())
		gv, err := schema.ParseGroupVersion(entry.APIVersion)
		if err != nil || !recorded || ab.DeletionTimestamp != nil {
			continue
		}
		byResource[gv.WithResource(entry.Resource).String()] = admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{gv.Group}, APIVersions: []string{gv.Version}, Resources: []string{entry.Resource},
				Scope: new(admissionregistrationv1.NamespacedScope),
			},
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(byResource)) {
		rules = append(rules, byResource[resource])
	}
	return rules
}
