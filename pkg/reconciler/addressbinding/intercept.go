/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// excludedFromWebhooks on a namespace has no webhook asked about what is in it; see config/500-webhook-configuration.yaml. It is the
// label by which Knative's webhooks leave namespaces out.
const excludedFromWebhooks = "webhooks.knative.dev/exclude"

// reconcileInterception marks whether new subjects start with their address.
func (r *Reconciler) reconcileInterception(ab *v1.AddressBinding, own sweep) {
	if own.kind == nil {
		ab.Status.MarkInterceptionUnknown(own.problem.Reason, own.problem.Message)
		return
	}
	resource := own.kind.Resource
	configuration, err := r.webhooks.Get(binding.WebhookName)
	switch {
	case apierrors.IsNotFound(err):
		ab.Status.MarkNotIntercepted("the MutatingWebhookConfiguration " + binding.WebhookName + " does not exist")
	case err != nil:
		ab.Status.MarkNotIntercepted(err.Error())
	case !intercepts(configuration, resource.GroupResource()):
		ab.Status.MarkNotIntercepted("the MutatingWebhookConfiguration " + binding.WebhookName + " has no rule for " +
			resource.GroupResource().String() + " yet: new objects get their address after they were created")
	case r.isExcludedFromWebhooks(ab.Namespace):
		ab.Status.MarkNotIntercepted("the namespace has the label " + excludedFromWebhooks +
			": new objects get their address after they were created")
	default:
		ab.Status.MarkIntercepted()
	}
}

func (r *Reconciler) isExcludedFromWebhooks(namespace string) bool {
	found, err := r.namespaces.Get(namespace)
	if err != nil {
		return false
	}
	_, excluded := found.Labels[excludedFromWebhooks]
	return excluded
}

// intercepts is whether the API server asks about new objects of a resource, at whichever version: the webhooks match
// equivalent ones.
func intercepts(configuration *admissionregistrationv1.MutatingWebhookConfiguration, resource schema.GroupResource) bool {
	return slices.ContainsFunc(configuration.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool {
		return len(w.ClientConfig.CABundle) > 0 && slices.ContainsFunc(w.Rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
			return slices.Contains(rule.Operations, admissionregistrationv1.Create) &&
				slices.Contains(rule.APIGroups, resource.Group) && slices.Contains(rule.Resources, resource.Resource)
		})
	})
}
