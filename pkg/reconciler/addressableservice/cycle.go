/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// maxHops bounds how many AddressableServices a chain of references may lead
// through: each reconciliation walks the chain, so a chain's cost grows with the square of its length.
const maxHops = 32

// findCycle follows the references between AddressableServices from this one. In
// a cycle every object would take the address of the previous one indefinitely, even
// after the original address was removed. A longer cycle has no address, because
// findAddressableService counts hops.
func (r *Reconciler) findCycle(as *v1.AddressableService) *failures.Failure {
	var chain []string
	for current := as; current.Spec.Ref.GroupKind() == samples.Kind("AddressableService") && len(chain) <= maxHops; {
		chain = append(chain, keyOf(current).String())
		next := types.NamespacedName{Namespace: current.Spec.Ref.NamespaceOr(current.Namespace), Name: current.Spec.Ref.Name}
		if slices.Contains(chain, next.String()) {
			return failures.Newf(v1.ReasonReferenceCycle, "the references form a cycle: %s", strings.Join(append(chain, next.String()), " -> "))
		}
		var err error
		if current, err = r.addressableServices.AddressableServices(next.Namespace).Get(next.Name); err != nil {
			// The end of the chain does not exist, which looking up the target reports.
			return nil
		}
	}
	return nil
}
