/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// maxHops bounds how many AddressableServices a chain of references may lead
// through: each pass walks its chain, so a chain's cost grows with the square of its length.
const maxHops = 32

// findCycle follows the references between AddressableServices from this one. In
// a cycle every object would feed on the address of the one before for ever, even
// after the address that it began with was long gone.
func (r *Reconciler) findCycle(as *v1.AddressableService) *problem.Problem {
	var chain []types.NamespacedName
	for current := as; current.Spec.Ref.GroupKind() == v1.Kind("AddressableService"); {
		chain = append(chain, types.NamespacedName{Namespace: current.Namespace, Name: current.Name})
		next := types.NamespacedName{
			Namespace: current.Spec.Ref.NamespaceOr(current.Namespace),
			Name:      current.Spec.Ref.Name,
		}
		if slices.Contains(chain, next) {
			return problem.Newf(v1.ReasonReferenceCycle, "the references form a cycle: %s", describe(append(chain, next)))
		}
		if len(chain) > maxHops {
			return problem.Newf(v1.ReasonReferenceCycle, "the references lead through more than %d AddressableServices", maxHops)
		}
		var err error
		current, err = r.addressableServices.AddressableServices(next.Namespace).Get(next.Name)
		if err != nil {
			// The end of the chain is not there, which the look-up of the target says.
			return nil
		}
	}
	return nil
}

func describe(chain []types.NamespacedName) string {
	names := make([]string, 0, len(chain))
	for _, n := range chain {
		names = append(names, n.String())
	}
	return strings.Join(names, " -> ")
}
