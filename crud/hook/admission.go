/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
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

func (a *Admission) complete() error {
	a.FailurePolicy = cmp.Or(a.FailurePolicy, admissionregistrationv1.Fail)
	a.SideEffects = cmp.Or(a.SideEffects, admissionregistrationv1.SideEffectClassNone)
	a.TimeoutSeconds = cmp.Or(a.TimeoutSeconds, defaultReviewSeconds)
	if errs := validation.IsFullyQualifiedName(field.NewPath("name"), a.Name); len(errs) > 0 {
		return errs.ToAggregate()
	}
	if !slices.Contains([]admissionregistrationv1.FailurePolicyType{admissionregistrationv1.Fail, admissionregistrationv1.Ignore}, a.FailurePolicy) {
		return fmt.Errorf("failurePolicy: there is no %s: use Fail or Ignore", a.FailurePolicy)
	}
	if a.SideEffects != admissionregistrationv1.SideEffectClassNone {
		return fmt.Errorf("sideEffects: %s is not supported, since operations are not executed in a review: use None", a.SideEffects)
	}
	if a.TimeoutSeconds < 1 || a.TimeoutSeconds > mostReviewSeconds {
		return fmt.Errorf("timeoutSeconds: it must be from 1 to %d", mostReviewSeconds)
	}
	if _, err := metav1.LabelSelectorAsSelector(a.LabelSelector); err != nil {
		return fmt.Errorf("labelSelector: %w", err)
	}
	if err := a.Namespace.check(); err != nil {
		return err
	}
	return a.completeRules()
}

var operationTypes = sets.New(admissionregistrationv1.OperationAll, admissionregistrationv1.Create, admissionregistrationv1.Update,
	admissionregistrationv1.Delete, admissionregistrationv1.Connect)

func (a *Admission) completeRules() error {
	if len(a.Rules) == 0 {
		return errors.New("rules: missing: add one with apiGroups, apiVersions, resources and operations")
	}
	a.Rules = slices.Clone(a.Rules)
	for i := range a.Rules {
		rule := &a.Rules[i]
		if min(len(rule.APIGroups), len(rule.APIVersions), len(rule.Resources), len(rule.Operations)) == 0 {
			return fmt.Errorf("rules[%d]: apiGroups, apiVersions, resources and operations must not be empty", i)
		}
		for _, operation := range rule.Operations {
			if !operationTypes.Has(operation) {
				return fmt.Errorf("rules[%d].operations: there is no %s: use CREATE, UPDATE, DELETE, CONNECT or *", i, operation)
			}
		}
		if rule.Scope == nil {
			rule.Scope = new(admissionregistrationv1.AllScopes)
		}
	}
	return nil
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
