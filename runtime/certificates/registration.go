/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"errors"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	admissioninformers "k8s.io/client-go/informers/admissionregistration/v1"
	corev1informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"
)

// Registered names the objects through which the API server learns the CA: webhook configurations, and the CRDs whose objects the
// webhook converts.
type Registered struct {
	Mutating, Validating, CRDs []string
}

// Informers are those of the Secret and of the registered objects. They are the caller's, since a process that links an injected informer needs
// permission to read every object of its kind.
type Informers struct {
	Secrets    corev1informers.SecretInformer
	Mutating   admissioninformers.MutatingWebhookConfigurationInformer
	Validating admissioninformers.ValidatingWebhookConfigurationInformer
	CRDs       apiextensionsinformers.CustomResourceDefinitionInformer
}

// Watch calls changed for each event of the certificate's Secret and of the objects that hold its CA. Events of other
// CRDs, Secrets and webhook configurations are ignored: to verify certificates takes about a millisecond.
func (r Registered) Watch(ctx context.Context, informers Informers, changed func()) {
	names := sets.New(webhook.GetOptions(ctx).SecretName).Insert(r.Mutating...).Insert(r.Validating...).Insert(r.CRDs...)
	handler := cache.FilteringResourceEventHandler{
		FilterFunc: func(obj any) bool {
			object, err := kmeta.DeletionHandlingAccessor(obj)
			return err == nil && names.Has(object.GetName())
		},
		Handler: controller.HandleAll(func(any) { changed() }),
	}
	for _, informer := range []cache.SharedIndexInformer{
		informers.Secrets.Informer(), informers.Mutating.Informer(), informers.Validating.Informer(), informers.CRDs.Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			logging.FromContext(ctx).Fatalw("Setting up the informers failed", "error", err)
		}
	}
}

// entry is one webhook of a configuration, or that of a CRD.
type entry struct {
	name string
	ca   []byte
	// isComplete reports whether the leader has filled in the rules, or the path. A webhook may have no rules as long as it concerns no kind.
	isComplete bool
}

// read returns the webhooks of every object that exists, and an error for each object that is missing or has no webhook: for those the API
// server sends no request.
func (r Registered) read(informers Informers) (found []entry, missing error) {
	mutating, mutatingErr := collect(r.Mutating, informers.Mutating.Lister().Get, func(c *admissionregistrationv1.MutatingWebhookConfiguration) (all []entry) {
		for _, w := range c.Webhooks {
			all = append(all, newEntry(w.Name, w.ClientConfig, w.Rules))
		}
		return all
	})
	get := informers.Validating.Lister().Get
	validating, validatingErr := collect(r.Validating, get, func(c *admissionregistrationv1.ValidatingWebhookConfiguration) (all []entry) {
		for _, w := range c.Webhooks {
			all = append(all, newEntry(w.Name, w.ClientConfig, w.Rules))
		}
		return all
	})
	converting, convertingErr := collect(r.CRDs, informers.CRDs.Lister().Get, converters)
	return slices.Concat(mutating, validating, converting), errors.Join(mutatingErr, validatingErr, convertingErr)
}

// collect returns the webhooks of the objects with these names.
func collect[T any](names []string, get func(string) (T, error), webhooks func(T) []entry) (found []entry, missing error) {
	var errs []error
	for _, name := range names {
		var entries []entry
		obj, err := get(name)
		if err == nil {
			if entries = webhooks(obj); len(entries) == 0 {
				err = fmt.Errorf("%s has no webhook", name)
			}
		}
		found, errs = append(found, entries...), append(errs, err)
	}
	return found, errors.Join(errs...)
}

func newEntry(name string, client admissionregistrationv1.WebhookClientConfig, rules []admissionregistrationv1.RuleWithOperations) entry {
	return entry{name, client.CABundle, len(rules) > 0 || client.Service != nil && client.Service.Path != nil}
}

// converters returns the webhook that converts the objects of a CRD, if there is one.
func converters(crd *apiextensionsv1.CustomResourceDefinition) []entry {
	conversion := crd.Spec.Conversion
	if conversion == nil || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil || conversion.Webhook.ClientConfig.Service == nil {
		return nil
	}
	client := conversion.Webhook.ClientConfig
	return []entry{{"of CRD " + crd.Name, client.CABundle, client.Service.Path != nil}}
}
