/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionslisters "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	"k8s.io/client-go/tools/cache"

	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	validatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/validatingwebhookconfiguration"
	"knative.dev/pkg/controller"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/webhook"
)

// Registered names the objects through which the API server learns the CA: webhook configurations, and the CRDs whose objects the
// webhook converts.
type Registered struct {
	Mutating, Validating, CRDs []string
}

// registration reads these objects.
type registration struct {
	Registered

	mutating   admissionlisters.MutatingWebhookConfigurationLister
	validating admissionlisters.ValidatingWebhookConfigurationLister
	crds       apiextensionslisters.CustomResourceDefinitionLister
}

func newRegistration(ctx context.Context, registered Registered) registration {
	return registration{registered, mutatinginformer.Get(ctx).Lister(), validatinginformer.Get(ctx).Lister(), crdinformer.Get(ctx).Lister()}
}

// watch calls changed for each event of the certificate's Secret and of the objects that hold its CA. Events of other
// CRDs, Secrets and webhook configurations are ignored: each call verifies certificates, which takes about a millisecond.
func (r Registered) watch(ctx context.Context, changed func()) error {
	names := sets.New(webhook.GetOptions(ctx).SecretName).Insert(r.Mutating...).Insert(r.Validating...).Insert(r.CRDs...)
	handler := cache.FilteringResourceEventHandler{
		FilterFunc: func(obj any) bool {
			object, err := kmeta.DeletionHandlingAccessor(obj)
			return err == nil && names.Has(object.GetName())
		},
		Handler: controller.HandleAll(func(any) { changed() }),
	}
	var errs []error
	for _, informer := range []cache.SharedIndexInformer{
		secretinformer.Get(ctx).Informer(), mutatinginformer.Get(ctx).Informer(), validatinginformer.Get(ctx).Informer(), crdinformer.Get(ctx).Informer(),
	} {
		_, err := informer.AddEventHandler(handler)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// entry is one webhook of a configuration, or that of a CRD.
type entry struct {
	name string
	ca   []byte
	// isComplete is whether the leader has filled in the rules, or the path. A webhook may have no rules as long as it concerns no kind.
	isComplete bool
}

// all returns the webhooks of every object that exists, and an error for each object
// that does not, or that holds no webhook, so that the API server sends no request.
func (r registration) all() (found []entry, missing error) {
	var errs []error
	add := func(name string, webhooks []entry, err error) {
		if err == nil && len(webhooks) == 0 {
			err = fmt.Errorf("webhook configuration %s holds no webhook", name)
		}
		found, errs = append(found, webhooks...), append(errs, err)
	}
	for _, name := range r.Mutating {
		var webhooks []entry
		configuration, err := r.mutating.Get(name)
		if err == nil {
			for _, w := range configuration.Webhooks {
				webhooks = append(webhooks, newEntry(w.Name, w.ClientConfig, w.Rules))
			}
		}
		add(name, webhooks, err)
	}
	for _, name := range r.Validating {
		var webhooks []entry
		configuration, err := r.validating.Get(name)
		if err == nil {
			for _, w := range configuration.Webhooks {
				webhooks = append(webhooks, newEntry(w.Name, w.ClientConfig, w.Rules))
			}
		}
		add(name, webhooks, err)
	}
	for _, name := range r.CRDs {
		var webhooks []entry
		crd, err := r.crds.Get(name)
		if err == nil {
			webhooks, err = converterOf(crd)
		}
		add(name, webhooks, err)
	}
	return found, errors.Join(errs...)
}

func newEntry(name string, client admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) entry {
	return entry{name, client.CABundle, len(rules) > 0 || client.Service != nil && client.Service.Path != nil}
}

// converterOf returns the webhook that converts the objects of a CRD.
func converterOf(crd *apiextensionsv1.CustomResourceDefinition) ([]entry, error) {
	conversion := crd.Spec.Conversion
	if conversion == nil || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil || conversion.Webhook.ClientConfig.Service == nil {
		return nil, fmt.Errorf("CRD %s has no webhook to convert between its versions", crd.Name)
	}
	client := conversion.Webhook.ClientConfig
	return []entry{{"of CRD " + crd.Name, client.CABundle, client.Service.Path != nil}}, nil
}

// bundles returns the CAs that the API server trusts, for each webhook. A configuration that
// is missing or empty sends no requests, so it is no reason to wait.
func (r registration) bundles() [][]byte {
	found, _ := r.all()
	bundles := make([][]byte, 0, len(found))
	for _, w := range found {
		bundles = append(bundles, w.ca)
	}
	return bundles
}
