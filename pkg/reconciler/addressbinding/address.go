/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// maxValue is how long a value may be by the schema of our status, and by that of Configurable.
const maxValue = 4096

func (r *Reconciler) reconcileAddress(ab *v1.AddressBinding) *problem.Problem {
	value, p := r.resolve(ab)
	switch {
	case p == nil:
		ab.Status.MarkAddressResolved(value)
	case p.Err != nil:
		ab.Status.MarkAddressUnavailable(p.Message)
	default:
		ab.Status.MarkAddressNotResolved(p.Reason, p.Message)
	}
	return p
}

// resolve looks the address up. It is that of an AddressableService of any class, and counts for as long as it is in its
// status: whether its alias is published, too, is of no concern here.
func (r *Reconciler) resolve(ab *v1.AddressBinding) (string, *problem.Problem) {
	name := ab.Spec.Address.Name
	err := r.tracker.TrackReference(tracker.Reference{
		APIVersion: v1.SchemeGroupVersion.String(), Kind: "AddressableService", Namespace: ab.Namespace, Name: name,
	}, ab)
	if err != nil {
		// The schema refuses what the tracker does, so this object came in past it.
		return "", problem.Newf(v1.ReasonAddressNotFound, "spec.address.name is invalid: %v", err)
	}
	as, err := r.addressableServices.AddressableServices(ab.Namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		return "", problem.Newf(v1.ReasonAddressNotFound, "AddressableService %s does not exist", name)
	case err != nil:
		return "", problem.Failed(v1.ReasonAddressUnavailable, fmt.Errorf("reading AddressableService %s: %w", name, err))
	case as.Status.Address == nil || as.Status.Address.URL.IsEmpty():
		return "", problem.Newf(v1.ReasonAddressNotReady, "AddressableService %s has no address%s", name, whyNotReady(as))
	}
	value := as.Status.Address.URL.String()
	if len(value) > maxValue {
		return "", problem.Newf(v1.ReasonAddressNotReady, "the address of AddressableService %s is longer than %d characters", name, maxValue)
	}
	return value, nil
}

func whyNotReady(as *v1.AddressableService) string {
	if c := as.Status.GetCondition(v1.AddressableServiceConditionReady); c.IsFalse() {
		return ": " + c.Reason
	}
	return " yet"
}
