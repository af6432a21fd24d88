/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Webhooks returns the webhooks of reviews for webhook configurations, with each field that the API server sets by default, and without a CA.
// service is that of the process.
func Webhooks(reviews []*Review, service admissionregistrationv1.ServiceReference) (
	validating []admissionregistrationv1.ValidatingWebhook, mutating []admissionregistrationv1.MutatingWebhook,
) {
	for _, r := range reviews {
		service.Path, service.Port = new(r.Path()), new(int32(443))
		w := admissionregistrationv1.ValidatingWebhook{
			Name: r.Name, AdmissionReviewVersions: []string{"v1"},
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{Service: service.DeepCopy()},
			Rules:             r.Rules,
			MatchConditions:   r.MatchConditions,
			MatchPolicy:       new(admissionregistrationv1.Equivalent),
			NamespaceSelector: r.namespaces(service.Namespace),
			ObjectSelector:    cmp.Or(r.LabelSelector, &metav1.LabelSelector{}),
			FailurePolicy:     &r.FailurePolicy, SideEffects: &r.SideEffects, TimeoutSeconds: &r.TimeoutSeconds,
		}
		if r.kind == TypeValidating {
			validating = append(validating, w)
			continue
		}
		mutating = append(mutating, admissionregistrationv1.MutatingWebhook{
			Name: w.Name, AdmissionReviewVersions: w.AdmissionReviewVersions, ClientConfig: w.ClientConfig, Rules: w.Rules, MatchConditions: w.MatchConditions,
			MatchPolicy: w.MatchPolicy, NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, FailurePolicy: w.FailurePolicy,
			SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds, ReinvocationPolicy: new(admissionregistrationv1.NeverReinvocationPolicy),
		})
	}
	return validating, mutating
}
