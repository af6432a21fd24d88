/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"errors"
	"fmt"

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

	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/runtime/triggers"
)

// configurations are where our CA has to be: the webhook configurations, and the definitions of the kinds that we convert.
type configurations struct {
	mutating    admissionlisters.MutatingWebhookConfigurationLister
	validating  admissionlisters.ValidatingWebhookConfigurationLister
	definitions apiextensionslisters.CustomResourceDefinitionLister
}

func newConfigurations(ctx context.Context) configurations {
	return configurations{mutatinginformer.Get(ctx).Lister(), validatinginformer.Get(ctx).Lister(), crdinformer.Get(ctx).Lister()}
}

// watchRegistration calls changed for each event of the certificate's Secret and of the objects that hold its CA. Events of other
// CRDs, Secrets and webhook configurations are ignored: each call verifies certificates, which takes about a millisecond.
func watchRegistration(ctx context.Context, changed func()) error {
	names := sets.New(served.definitions()...).Insert(
		webhook.GetOptions(ctx).SecretName, DefaultingName, binding.WebhookName, ValidationName, ConfigValidationName)
	handler := cache.FilteringResourceEventHandler{
		FilterFunc: func(obj any) bool {
			object, err := kmeta.DeletionHandlingAccessor(obj)
			return err == nil && names.Has(object.GetName())
		},
		Handler: controller.HandleAll(func(any) { changed() }),
	}
	return errors.Join(
		triggers.Setup(secretinformer.Get(ctx).Informer(), nil, nil, handler),
		triggers.Setup(mutatinginformer.Get(ctx).Informer(), nil, nil, handler),
		triggers.Setup(validatinginformer.Get(ctx).Informer(), nil, nil, handler),
		triggers.Setup(crdinformer.Get(ctx).Informer(), nil, nil, handler),
	)
}

// entry is one webhook of a configuration, or the one of a definition.
type entry struct {
	name string
	ca   []byte
	// complete is whether the leader has filled in what is asked of the webhook: the rules, or the path.
	complete bool
}

// all returns the webhooks of everything that exists, and an error for each
// that does not, or that holds none and so has nobody asked.
func (c configurations) all() (found []entry, missing error) {
	var problems []error
	add := func(name string, webhooks []entry, err error) {
		if err == nil && len(webhooks) == 0 {
			err = fmt.Errorf("webhook configuration %s holds no webhook", name)
		}
		found, problems = append(found, webhooks...), append(problems, err)
	}
	for _, name := range []string{DefaultingName, binding.WebhookName} {
		var webhooks []entry
		configuration, err := c.mutating.Get(name)
		if err == nil {
			for _, w := range configuration.Webhooks {
				// Without bindings there is nothing to ask about, and so there are no rules.
				complete := len(w.Rules) > 0 || name == binding.WebhookName && w.ClientConfig.Service != nil && w.ClientConfig.Service.Path != nil
				webhooks = append(webhooks, entry{w.Name, w.ClientConfig.CABundle, complete})
			}
		}
		add(name, webhooks, err)
	}
	for _, name := range []string{ValidationName, ConfigValidationName} {
		var webhooks []entry
		configuration, err := c.validating.Get(name)
		if err == nil {
			for _, w := range configuration.Webhooks {
				webhooks = append(webhooks, entry{w.Name, w.ClientConfig.CABundle, len(w.Rules) > 0})
			}
		}
		add(name, webhooks, err)
	}
	for _, name := range served.definitions() {
		var webhooks []entry
		definition, err := c.definitions.Get(name)
		if err == nil {
			webhooks, err = converterOf(definition)
		}
		add(name, webhooks, err)
	}
	return found, errors.Join(problems...)
}

// converterOf is the webhook that converts a kind.
func converterOf(definition *apiextensionsv1.CustomResourceDefinition) ([]entry, error) {
	conversion := definition.Spec.Conversion
	if conversion == nil || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil || conversion.Webhook.ClientConfig.Service == nil {
		return nil, fmt.Errorf("definition %s has no webhook convert between its versions", definition.Name)
	}
	client := conversion.Webhook.ClientConfig
	return []entry{{"of definition " + definition.Name, client.CABundle, client.Service.Path != nil}}, nil
}

// bundles returns what CAs the API server trusts, by each webhook. A configuration that
// is missing or empty sends no requests, so it is no reason to wait.
func (c configurations) bundles() [][]byte {
	found, _ := c.all()
	bundles := make([][]byte, 0, len(found))
	for _, w := range found {
		bundles = append(bundles, w.ca)
	}
	return bundles
}
