/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Condition types of an AddressBinding. All are always present once the object was reconciled, and True is the good
// state of each.
const (
	// AddressBindingConditionReady is True when every other condition is.
	AddressBindingConditionReady = apis.ConditionReady

	// AddressBindingConditionAddressResolved says whether the AddressableService has an address, which then is in the
	// status.
	AddressBindingConditionAddressResolved apis.ConditionType = "AddressResolved"

	// AddressBindingConditionSubjectsBound says whether every container of every subject there is has the address. It is
	// Unknown on the way there, and as long as there is no address.
	AddressBindingConditionSubjectsBound apis.ConditionType = "SubjectsBound"

	// AddressBindingConditionIntercepted says whether the API server asks the webhook about objects of the subject's kind,
	// so that new ones start with their address. It is Unknown as long as the kind is not known.
	AddressBindingConditionIntercepted apis.ConditionType = "Intercepted"
)

// Reasons of the condition AddressResolved when it is False.
const (
	// ReasonAddressNotFound: there is no AddressableService of that name.
	ReasonAddressNotFound = "AddressNotFound"

	// ReasonAddressNotReady: the AddressableService has no address, or none that fits into a variable.
	ReasonAddressNotReady = "AddressNotReady"

	// ReasonAddressUnavailable: reading the AddressableService failed; it is tried again.
	ReasonAddressUnavailable = "AddressUnavailable"
)

// Reasons of the condition SubjectsBound. If several apply, the first of those that make it False is told.
const (
	// ReasonSubjectKindNotFound (False): the cluster does not serve the kind at that version. Installing its CRD later is noticed.
	ReasonSubjectKindNotFound = "SubjectKindNotFound"

	// ReasonSubjectForbidden (False): the operator may not list, watch or patch the kind. A ClusterRole labelled
	// duck.knative.dev/podspecable=true grants it.
	ReasonSubjectForbidden = "SubjectForbidden"

	// ReasonSubjectUnavailable (False): reading the subjects failed; it is tried again.
	ReasonSubjectUnavailable = "SubjectUnavailable"

	// ReasonSubjectNotPodSpecable (False): the object has no containers at spec.template, or its kind is in no namespace.
	ReasonSubjectNotPodSpecable = "SubjectNotPodSpecable"

	// ReasonSubjectNotFound (False): no object of that kind has this name.
	ReasonSubjectNotFound = "SubjectNotFound"

	// ReasonBindFailed (False): the API server refused to change a subject; it is tried again.
	ReasonBindFailed = "BindFailed"

	// ReasonNotIncluded (False): neither the namespace nor the subject opts in to bindings, or one of them opts out.
	ReasonNotIncluded = "NotIncluded"

	// ReasonVariableTaken (False): a container has a variable of that name which is its own, or an older binding's.
	ReasonVariableTaken = "VariableTaken"

	// ReasonSubjectImmutable (False): the object was there before its address, and the API server lets nobody change it.
	ReasonSubjectImmutable = "SubjectImmutable"

	// ReasonBinding (Unknown): the address is on its way to the subjects.
	ReasonBinding = "Binding"

	// ReasonUnbindFailed (False): a subject could not be relieved of its variable, which holds up the deletion of the
	// binding; it is tried again.
	ReasonUnbindFailed = "UnbindFailed"
)

// ReasonNotIntercepted (False, Intercepted): the webhook's configuration has no rule for the kind, as for a moment after
// the first binding of a kind was made.
const ReasonNotIntercepted = "NotIntercepted"

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

// MarkAddressResolved records the address that subjects are to have.
func (s *AddressBindingStatus) MarkAddressResolved(value string) {
	s.Value = value
	s.manager().MarkTrue(AddressBindingConditionAddressResolved)
}

// MarkAddressNotResolved records why there is no address, and takes away the one that was: subjects lose it too.
func (s *AddressBindingStatus) MarkAddressNotResolved(reason, message string) {
	s.Value = ""
	s.manager().MarkFalse(AddressBindingConditionAddressResolved, reason, "%s", samples.Shorten(message))
}

// MarkAddressUnavailable records that it could not be found out whether there is an address. Subjects keep the one that they have.
func (s *AddressBindingStatus) MarkAddressUnavailable(message string) {
	s.manager().MarkFalse(AddressBindingConditionAddressResolved, ReasonAddressUnavailable, "%s", samples.Shorten(message))
}

// MarkSubjectsBound records that every subject has the address.
func (s *AddressBindingStatus) MarkSubjectsBound() {
	s.manager().MarkTrue(AddressBindingConditionSubjectsBound)
}

// MarkBinding records that subjects are about to get the address.
func (s *AddressBindingStatus) MarkBinding(message string) {
	s.manager().MarkUnknown(AddressBindingConditionSubjectsBound, ReasonBinding, "%s", samples.Shorten(message))
}

// MarkNoAddressToBind records that subjects wait for an address. It is to be called after MarkAddressNotResolved, whose
// reason Ready keeps.
func (s *AddressBindingStatus) MarkNoAddressToBind() {
	s.manager().MarkUnknown(AddressBindingConditionSubjectsBound, ReasonNoAddress, "there is no address to bind")
}

// MarkSubjectsNotBound records why a subject does not have the address. When there is none, Ready keeps the reason of that: it
// comes first.
func (s *AddressBindingStatus) MarkSubjectsNotBound(reason, message string) {
	s.manager().MarkFalse(AddressBindingConditionSubjectsBound, reason, "%s", samples.Shorten(message))
	s.keepFirst(AddressBindingConditionAddressResolved)
}

// MarkIntercepted records that new subjects start with their address.
func (s *AddressBindingStatus) MarkIntercepted() {
	s.manager().MarkTrue(AddressBindingConditionIntercepted)
}

// MarkNotIntercepted records why new subjects start without their address. Ready keeps the reason of what comes before.
func (s *AddressBindingStatus) MarkNotIntercepted(message string) {
	s.manager().MarkFalse(AddressBindingConditionIntercepted, ReasonNotIntercepted, "%s", samples.Shorten(message))
	s.keepFirst(AddressBindingConditionAddressResolved, AddressBindingConditionSubjectsBound)
}

// MarkInterceptionUnknown records that the kind of the subjects is not known, of which SubjectsBound says why.
func (s *AddressBindingStatus) MarkInterceptionUnknown(reason, message string) {
	s.manager().MarkUnknown(AddressBindingConditionIntercepted, reason, "%s", samples.Shorten(message))
}

// keepFirst gives Ready the reason of the first of these conditions that is False, if one is.
func (s *AddressBindingStatus) keepFirst(conditions ...apis.ConditionType) {
	for _, t := range conditions {
		if c := s.GetCondition(t); c.IsFalse() {
			s.manager().MarkFalse(t, c.Reason, "%s", c.Message)
			return
		}
	}
}

func (s *AddressBindingStatus) manager() apis.ConditionManager {
	return addressBindingConditionSet.Manage(&s.Status)
}
