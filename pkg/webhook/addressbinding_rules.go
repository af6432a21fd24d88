/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/mallard-dev/mallard/pkg/binding"
)

// rules returns a rule for each resource that the controller has recorded as the subject of a binding: it serves the kind, and the
// controller is able to list it. Subresources are not in them. Equal resources give equal rules.
func (b *bindingAdmission) rules() ([]admissionregistrationv1.RuleWithOperations, error) {
	all, err := b.bindings.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing bindings: %w", err)
	}
	resources := sets.New[schema.GroupVersionResource]()
	for _, ab := range all {
		entry, recorded := binding.Recorded(ab, binding.KindOf(ab.Spec.Subject.APIVersion, ab.Spec.Subject.Kind))
		if gv, err := schema.ParseGroupVersion(entry.APIVersion); err == nil && recorded && ab.DeletionTimestamp == nil {
			resources.Insert(gv.WithResource(entry.Resource))
		}
	}
	var rules []admissionregistrationv1.RuleWithOperations
	for _, resource := range slices.SortedFunc(maps.Keys(resources), func(a, b schema.GroupVersionResource) int {
		return strings.Compare(a.String(), b.String())
	}) {
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
	return rules, nil
}
