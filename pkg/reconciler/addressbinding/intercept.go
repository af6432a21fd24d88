/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// excludedFromWebhooks is the label of namespaces for which Knative's webhooks are not called; see config/500-addressbinding-webhook.yaml.
const excludedFromWebhooks = "webhooks.knative.dev/exclude"

// reconcileInterception marks Intercepted.
func (r *Reconciler) reconcileInterception(ab *v1.AddressBinding) {
	resource, recorded := subjectResource(ab)
	if !recorded {
		ab.Status.MarkInterceptionUnknown()
		return
	}
	configuration, err := r.webhooks.Get(binding.WebhookName)
	switch {
	case err != nil:
		ab.Status.MarkNotIntercepted("the MutatingWebhookConfiguration " + binding.WebhookName + " does not exist")
	case !intercepts(configuration, resource):
		ab.Status.MarkNotIntercepted("the MutatingWebhookConfiguration " + binding.WebhookName + " has no rule for " + resource.String() +
			" yet: new objects get their address after they were created")
	case r.isExcludedFromWebhooks(ab.Namespace):
		ab.Status.MarkNotIntercepted("the namespace has the label " + excludedFromWebhooks +
			": new objects get their address after they were created")
	default:
		ab.Status.MarkIntercepted()
	}
}

// subjectResource returns the resource of the subject, if the status has recorded it.
func subjectResource(ab *v1.AddressBinding) (schema.GroupResource, bool) {
	gvk := subjectGVK(ab)
	entry, recorded := binding.Recorded(ab, gvk.GroupKind())
	return schema.GroupResource{Group: gvk.Group, Resource: entry.Resource}, recorded
}

func (r *Reconciler) isExcludedFromWebhooks(namespace string) bool {
	found, err := r.namespaces.Get(namespace)
	if err != nil {
		return false
	}
	_, excluded := found.Labels[excludedFromWebhooks]
	return excluded
}

// intercepts reports whether the API server calls the webhook for new objects of a resource, at whichever version: the rules match
// equivalent ones.
func intercepts(configuration *admissionregistrationv1.MutatingWebhookConfiguration, resource schema.GroupResource) bool {
	return slices.ContainsFunc(configuration.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool {
		return len(w.ClientConfig.CABundle) > 0 && slices.ContainsFunc(w.Rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
			return slices.Contains(rule.Operations, admissionregistrationv1.Create) &&
				slices.Contains(rule.APIGroups, resource.Group) && slices.Contains(rule.Resources, resource.Resource)
		})
	})
}
