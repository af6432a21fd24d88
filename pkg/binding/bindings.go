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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Bindings are the AddressBindings of a namespace as far as they concern the objects of a kind. Use Of. They may be used
// by several goroutines.
type Bindings struct {
	kind schema.GroupKind
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
	Choice

	binding string
}

// Of returns what of the bindings concerns objects of a kind, whatever its version. They have to be all of one namespace:
// one that is left out would have its variables taken for the objects' own.
//
// A binding counts, so that it chooses objects, if it is not being deleted, its status has a value, and its status.bound
// lists that value of its variable for the kind. What the status.bound of any binding lists is nobody's own.
func Of(kind schema.GroupKind, all []*v1.AddressBinding) *Bindings {
	all = slices.SortedFunc(slices.Values(all), older)
	found := &Bindings{kind: kind, ours: sets.New[pair]()}
	for _, b := range all {
		for _, bound := range b.Status.Bound {
			if KindOf(bound.APIVersion, bound.Kind) == kind {
				found.ours.Insert(pair{bound.Name, bound.Value})
			}
		}
	}
	for _, b := range all {
		if counts(b, kind) {
			found.choosers = append(found.choosers, chooser{
				pair:    pair{b.Spec.Variable, b.Status.Value},
				Choice:  ChoiceOf(&b.Spec.Subject),
				binding: b.Name,
			})
		}
	}
	return found
}

// older orders bindings: of two that want the same variable, the first gets it.
func older(a, b *v1.AddressBinding) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// counts is whether a binding counts for a kind.
func counts(b *v1.AddressBinding, kind schema.GroupKind) bool {
	if KindOf(b.Spec.Subject.APIVersion, b.Spec.Subject.Kind) != kind || b.DeletionTimestamp != nil || b.Status.Value == "" {
		return false
	}
	return slices.ContainsFunc(b.Status.Bound, func(bound v1.BoundVariable) bool {
		return bound.Name == b.Spec.Variable && bound.Value == b.Status.Value && KindOf(bound.APIVersion, bound.Kind) == kind
	})
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
		if c.Includes(b.kind, object) {
			decision.wanted[c.pair.name] = append(decision.wanted[c.pair.name], c)
		}
	}
	return decision
}
