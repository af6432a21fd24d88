/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Bindings are the AddressBindings of a namespace as far as they concern the objects of a kind. Use Of. They may be used
// by several goroutines.
type Bindings struct {
	// choosers choose objects of the kind, oldest first.
	choosers []chooser
	// ours are all variables that may stand in objects of the kind because of a binding.
	ours sets.Set[pair]
}

// pair is a variable with its value.
type pair struct{ name, value string }

// chooser is a binding that counts.
type chooser struct {
	pair

	binding  string
	name     string
	selector labels.Selector
}

// Of returns what of the bindings concerns objects of a kind, whatever its version. They have to be all of one namespace:
// one that is left out would have its variables taken for the objects' own.
//
// A binding counts, so that it chooses objects, if it is not being deleted, its status has a value, and its status.bound
// lists that value of its variable for the kind. What the status.bound of any binding lists is nobody's own.
func Of(kind schema.GroupKind, all []*v1.AddressBinding) *Bindings {
	all = slices.SortedFunc(slices.Values(all), older)
	found := &Bindings{ours: sets.New[pair]()}
	for _, b := range all {
		for _, bound := range b.Status.Bound {
			if KindOf(bound.APIVersion, bound.Kind) == kind {
				found.ours.Insert(pair{bound.Name, bound.Value})
			}
		}
	}
	for _, b := range all {
		if selector, counts := chooses(b, kind); counts {
			found.choosers = append(found.choosers, chooser{
				pair:     pair{b.Spec.Variable, b.Status.Value},
				binding:  b.Name,
				name:     b.Spec.Subject.Name,
				selector: selector,
			})
		}
	}
	return found
}

// older orders bindings: of two that want the same variable, the first gets it.
func older(a, b *v1.AddressBinding) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// chooses is whether a binding counts for a kind, and with which selector. A selector that is none chooses nothing.
func chooses(b *v1.AddressBinding, kind schema.GroupKind) (labels.Selector, bool) {
	subject := &b.Spec.Subject
	if KindOf(subject.APIVersion, subject.Kind) != kind || b.DeletionTimestamp != nil || b.Status.Value == "" {
		return nil, false
	}
	if !slices.ContainsFunc(b.Status.Bound, func(bound v1.BoundVariable) bool {
		return bound.Name == b.Spec.Variable && bound.Value == b.Status.Value && KindOf(bound.APIVersion, bound.Kind) == kind
	}) {
		return nil, false
	}
	selector, err := metav1.LabelSelectorAsSelector(subject.Selector)
	return selector, err == nil
}

// KindOf is the kind that a reference means. Its version does not matter: it is the same objects.
func KindOf(apiVersion, kind string) schema.GroupKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind).GroupKind()
}

// Decision is what an object is to have.
type Decision struct {
	ours sets.Set[pair]
	// wanted are the variables and, for each, the bindings that want it, oldest first.
	wanted map[string][]chooser
}

// Decide returns what an object is to have: by each binding that chooses it, its variable. If several want the same
// one, the oldest of them has it. An object that is not included is to have none.
func (b *Bindings) Decide(object metav1.Object, included bool) Decision {
	decision := Decision{ours: b.ours, wanted: make(map[string][]chooser)}
	if !included {
		return decision
	}
	for _, c := range b.choosers {
		if c.chooses(object) {
			decision.wanted[c.pair.name] = append(decision.wanted[c.pair.name], c)
		}
	}
	return decision
}

func (c *chooser) chooses(object metav1.Object) bool {
	if c.name != "" {
		return c.name == object.GetName()
	}
	return c.selector.Matches(labels.Set(object.GetLabels()))
}
