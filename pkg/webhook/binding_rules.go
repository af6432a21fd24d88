/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/mallard-dev/mallard/pkg/binding"
	lookup "github.com/mallard-dev/mallard/pkg/kinds"
)

// rules are those for the kinds of all bindings that are not being deleted. A kind that the cluster does not serve, or that
// has no place for variables, gets none. While discovery of a kind fails, the rules stay that are present at its version: without
// them new objects would start without their address. The Finder's callback follows.
func (b *bindingAdmission) rules(present *admissionregistrationv1.MutatingWebhookConfiguration) ([]admissionregistrationv1.RuleWithOperations, error) {
	all, err := b.bindings.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing bindings: %w", err)
	}
	subjects := sets.New[schema.GroupVersionKind]()
	for _, ab := range all {
		if ab.DeletionTimestamp == nil {
			subjects.Insert(schema.FromAPIVersionAndKind(ab.Spec.Subject.APIVersion, ab.Spec.Subject.Kind))
		}
	}
	resources := sets.New[schema.GroupVersionResource]()
	for subject := range subjects {
		served, err := b.kinds.Find(subject)
		if _, notServed := errors.AsType[*lookup.NotServedError](err); notServed {
			continue
		}
		if err != nil {
			resources.Insert(ruledAt(present, subject.GroupVersion())...)
			continue
		}
		if served.Namespaced && binding.Bindable(subject.GroupKind(), served.BuiltIn) {
			resources.Insert(served.Resource)
		}
	}
	return rulesFor(resources.UnsortedList()), nil
}

// ruledAt are the resources of a version that a configuration has rules for, as rulesFor makes them.
func ruledAt(configuration *admissionregistrationv1.MutatingWebhookConfiguration, version schema.GroupVersion) []schema.GroupVersionResource {
	var resources []schema.GroupVersionResource
	for i := range configuration.Webhooks {
		for _, rule := range configuration.Webhooks[i].Rules {
			if !slices.Equal(rule.APIGroups, []string{version.Group}) || !slices.Equal(rule.APIVersions, []string{version.Version}) {
				continue
			}
			for _, resource := range rule.Resources {
				resources = append(resources, version.WithResource(resource))
			}
		}
	}
	return resources
}

// rulesFor are in an order of their own, so that the same resources give the same rules. Subresources are not in them: nobody
// needs a variable to scale.
func rulesFor(resources []schema.GroupVersionResource) []admissionregistrationv1.RuleWithOperations {
	slices.SortFunc(resources, func(a, b schema.GroupVersionResource) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource), strings.Compare(a.Version, b.Version))
	})
	var rules []admissionregistrationv1.RuleWithOperations
	for _, resource := range resources {
		rules = append(rules, admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups:   []string{resource.Group},
				APIVersions: []string{resource.Version},
				Resources:   []string{resource.Resource},
				Scope:       new(admissionregistrationv1.NamespacedScope),
			},
		})
	}
	return rules
}
