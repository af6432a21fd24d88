/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// settle is for how long a variable has to be nowhere before it is given up as ours: a replica of the webhook, which sees
// bindings a moment later than we do, may still be giving it to a new object.
const settle = 5 * time.Second

// wantedEntry is what status.bound has to list before a subject may have the present value, nil without one.
func wantedEntry(ab *v1.AddressBinding) *v1.BoundVariable {
	if ab.Status.Value == "" {
		return nil
	}
	return &v1.BoundVariable{
		APIVersion: ab.Spec.Subject.APIVersion, Kind: ab.Spec.Subject.Kind, Name: ab.Spec.Variable, Value: ab.Status.Value,
	}
}

// sameVariable is whether two entries are about the same variable, at whichever version its kind is named.
func sameVariable(a, b v1.BoundVariable) bool {
	return binding.KindOf(a.APIVersion, a.Kind) == binding.KindOf(b.APIVersion, b.Kind) && a.Name == b.Name && a.Value == b.Value
}

// withEntry returns the list with an entry, and whether it had it before, at whichever version.
func withEntry(bound []v1.BoundVariable, entry v1.BoundVariable) ([]v1.BoundVariable, bool) {
	if slices.ContainsFunc(bound, func(b v1.BoundVariable) bool { return sameVariable(b, entry) }) {
		return bound, true
	}
	return append(bound, entry), false
}

// atVersionOf gives the entry of the same variable the version of another one. It is called once objects were found at that: by a version
// that is served nowhere nobody would find what the entry is about.
func atVersionOf(bound []v1.BoundVariable, entry v1.BoundVariable) {
	for i := range bound {
		if sameVariable(bound[i], entry) {
			bound[i] = entry
		}
	}
}

// coveredByOther is whether another binding that stays wants the same variable, so that it is looked after. Of two that go
// neither covers the other.
func coveredByOther(entry v1.BoundVariable, self types.UID, all []*v1.AddressBinding) bool {
	return slices.ContainsFunc(all, func(other *v1.AddressBinding) bool {
		if other.UID == self || other.DeletionTimestamp != nil {
			return false
		}
		wanted := wantedEntry(other)
		return wanted != nil && sameVariable(*wanted, entry) &&
			slices.ContainsFunc(other.Status.Bound, func(b v1.BoundVariable) bool { return sameVariable(b, entry) })
	})
}

// listing is an entry of the status.bound of a binding.
type listing struct {
	binding types.UID
	entry   v1.BoundVariable
}
