/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Admission has a hook answer admission reviews. The run of a review has no queue, and takes place on every replica. Its fields, except for those of
// snapshots, are those of a webhook in a webhook configuration.
type Admission struct {
	// Name is that of the webhook: a domain with at least three segments.
	Name string `json:"name"`
	// IncludeSnapshotsFrom and Group are those of Common.
	IncludeSnapshotsFrom []string `json:"includeSnapshotsFrom,omitempty"`
	Group                string   `json:"group,omitempty"`
	// LabelSelector selects objects, and Namespace their namespaces.
	LabelSelector   *metav1.LabelSelector                        `json:"labelSelector,omitempty"`
	Namespace       *NamespaceSelector                           `json:"namespace,omitempty"`
	Rules           []admissionregistrationv1.RuleWithOperations `json:"rules"`
	MatchConditions []admissionregistrationv1.MatchCondition     `json:"matchConditions,omitempty"`
	// FailurePolicy is Fail by default.
	FailurePolicy admissionregistrationv1.FailurePolicyType `json:"failurePolicy,omitempty"`
	// SideEffects may only be None: operations are not executed in a review.
	SideEffects admissionregistrationv1.SideEffectClass `json:"sideEffects,omitempty"`
	// TimeoutSeconds is the time for which the API server waits, 10 by default.
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
}

const (
	defaultReviewSeconds = 10
	mostReviewSeconds    = 30
)

func (a *Admission) complete(path *field.Path) field.ErrorList {
	a.FailurePolicy = cmp.Or(a.FailurePolicy, admissionregistrationv1.Fail)
	a.SideEffects = cmp.Or(a.SideEffects, admissionregistrationv1.SideEffectClassNone)
	a.TimeoutSeconds = cmp.Or(a.TimeoutSeconds, defaultReviewSeconds)
	errs := slices.Concat(
		validation.IsFullyQualifiedName(path.Child("name"), a.Name),
		checkLabels(path, a.LabelSelector),
		a.Namespace.check(path.Child("namespace")),
		oneOf(path.Child("failurePolicy"), a.FailurePolicy, admissionregistrationv1.Fail, admissionregistrationv1.Ignore),
		oneOf(path.Child("sideEffects"), a.SideEffects, admissionregistrationv1.SideEffectClassNone),
	)
	if a.TimeoutSeconds < 1 || a.TimeoutSeconds > mostReviewSeconds {
		errs = append(errs, field.Invalid(path.Child("timeoutSeconds"), a.TimeoutSeconds, fmt.Sprintf("must be from 1 to %d", mostReviewSeconds)))
	}
	if len(a.Rules) == 0 {
		errs = append(errs, field.Required(path.Child("rules"), ""))
	}
	for i, rule := range a.Rules {
		path := path.Child("rules").Index(i)
		if min(len(rule.APIGroups), len(rule.APIVersions), len(rule.Resources), len(rule.Operations)) == 0 {
			errs = append(errs, field.Required(path, "apiGroups, apiVersions, resources and operations must not be empty"))
		}
		for _, operation := range rule.Operations {
			errs = append(errs, oneOf(path.Child("operations"), operation, admissionregistrationv1.OperationAll, admissionregistrationv1.Create,
				admissionregistrationv1.Update, admissionregistrationv1.Delete, admissionregistrationv1.Connect)...)
		}
	}
	return errs
}

// namespaces returns the selector of namespaces for the API server. Excluded are the namespaces with the label of knative.dev/pkg, and that of the
// process, which a hook could otherwise keep from renewing its certificate and its lease.
func (a *Admission) namespaces(own string) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	if n := a.Namespace; n != nil && n.LabelSelector != nil {
		selector = n.LabelSelector.DeepCopy()
	} else if n != nil && n.NameSelector != nil {
		selector.MatchExpressions = []metav1.LabelSelectorRequirement{
			{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: n.NameSelector.MatchNames},
		}
	}
	selector.MatchExpressions = append(selector.MatchExpressions,
		metav1.LabelSelectorRequirement{Key: "webhooks.knative.dev/exclude", Operator: metav1.LabelSelectorOpDoesNotExist},
		metav1.LabelSelectorRequirement{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{own}})
	return selector
}

// webhook returns the webhook of a review for a webhook configuration. A ValidatingWebhook has the same JSON.
func (r *Review) webhook(service types.NamespacedName, ca []byte) admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name: r.Name, AdmissionReviewVersions: []string{"v1"},
		ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: ca, Service: &admissionregistrationv1.ServiceReference{
			Namespace: service.Namespace, Name: service.Name, Path: new(r.Path()),
		}},
		Rules: r.Rules, MatchConditions: r.MatchConditions, NamespaceSelector: r.namespaces(service.Namespace), ObjectSelector: r.LabelSelector,
		FailurePolicy: &r.FailurePolicy, SideEffects: &r.SideEffects, TimeoutSeconds: &r.TimeoutSeconds,
	}
}
