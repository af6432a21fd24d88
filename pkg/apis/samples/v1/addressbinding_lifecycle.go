/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// Condition types of an AddressBinding. All are always present once the object was reconciled, and True is the good
// state of each.
const (
	// AddressBindingConditionReady is True when every other condition is.
	AddressBindingConditionReady = apis.ConditionReady

	// AddressBindingConditionAddressResolved says whether the AddressableService has an address, which then is in the
	// status.
	AddressBindingConditionAddressResolved apis.ConditionType = "AddressResolved"

	// AddressBindingConditionSubjectsBound says whether every container of every subject there is has the address.
	AddressBindingConditionSubjectsBound apis.ConditionType = "SubjectsBound"

	// AddressBindingConditionIntercepted says whether the API server asks the webhook about objects of the subject's kind,
	// so that new ones start with their address.
	AddressBindingConditionIntercepted apis.ConditionType = "Intercepted"
)

var addressBindingConditionSet = apis.NewLivingConditionSet(
	AddressBindingConditionAddressResolved,
	AddressBindingConditionSubjectsBound,
	AddressBindingConditionIntercepted,
)

// GetGroupVersionKind implements kmeta.OwnerRefable.
func (*AddressBinding) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("AddressBinding")
}

// GetConditionSet implements duckv1.KRShaped.
func (*AddressBinding) GetConditionSet() apis.ConditionSet {
	return addressBindingConditionSet
}

// GetStatus implements duckv1.KRShaped.
func (ab *AddressBinding) GetStatus() *duckv1.Status {
	return &ab.Status.Status
}
