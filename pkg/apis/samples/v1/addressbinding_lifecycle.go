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

	// AddressBindingConditionAddressResolved reports whether the AddressableService has an address. It is Unknown while the operator
	// does not know, in which case the status keeps the last address.
	AddressBindingConditionAddressResolved apis.ConditionType = "AddressResolved"

	// AddressBindingConditionSubjectsBound reports whether every container of every subject has the address. It is Unknown on the way
	// there, while there is no address, and while a selector matches nothing.
	AddressBindingConditionSubjectsBound apis.ConditionType = "SubjectsBound"

	// AddressBindingConditionIntercepted reports whether the API server calls the webhook for objects of the subject's kind, so that
	// new ones have the address from the start. It is Unknown while the operator cannot list the kind.
	AddressBindingConditionIntercepted apis.ConditionType = "Intercepted"
)

// Reasons of the condition AddressResolved.
const (
	// ReasonAddressNotFound (False): no AddressableService has that name.
	ReasonAddressNotFound = "AddressNotFound"

	// ReasonAddressNotReady: the AddressableService has no address or one that does not fit into a variable (False), or it is not known yet whether
	// it has one (Unknown).
	ReasonAddressNotReady = "AddressNotReady"
)

// Reasons of the condition SubjectsBound. If several apply, the condition has the first one in this order.
const (
	// ReasonSubjectKindNotFound (False): the cluster does not serve the kind at that version. Installing its CRD is noticed.
	ReasonSubjectKindNotFound = "SubjectKindNotFound"

	// ReasonSubjectKindNotBindable (False): objects of the kind are made by those of another kind, such as a Deployment's
	// ReplicaSets; or the kind is a built-in one without a Pod template, or cluster-scoped.
	ReasonSubjectKindNotBindable = "SubjectKindNotBindable"

	// ReasonSubjectForbidden (False): the operator is not allowed to list, watch or patch the kind. A ClusterRole labeled
	// duck.knative.dev/podspecable=true grants it.
	ReasonSubjectForbidden = "SubjectForbidden"

	// ReasonSubjectUnavailable (False): listing the subjects failed; it is retried with back-off.
	ReasonSubjectUnavailable = "SubjectUnavailable"

	// ReasonBindFailed (False): the API server or an admission webhook rejected the change of a subject, or the change was reverted; it
	// is retried with back-off.
	ReasonBindFailed = "BindFailed"

	// ReasonUnbindFailed (False): removing variables from objects of a kind in status.kinds failed, which blocks the deletion of the
	// binding; it is retried with back-off.
	ReasonUnbindFailed = "UnbindFailed"

	// ReasonSubjectNotPodSpecable (False): the object has no containers where its kind has a Pod template.
	ReasonSubjectNotPodSpecable = "SubjectNotPodSpecable"

	// ReasonExcluded (False): the subject or its namespace opts out of bindings.
	ReasonExcluded = "Excluded"

	// ReasonNotIncluded (False): neither the subject nor its namespace opts in to bindings.
	ReasonNotIncluded = "NotIncluded"

	// ReasonControlled (False): another object controls the subject, and would revert the change. Bind that object.
	ReasonControlled = "Controlled"

	// ReasonVariableTaken (False): a container has a variable of that name which is its own, or an older binding's.
	ReasonVariableTaken = "VariableTaken"

	// ReasonSubjectImmutable (False): the Job existed before its address, and the Pod template of a Job cannot be changed.
	ReasonSubjectImmutable = "SubjectImmutable"

	// ReasonSubjectNotFound (False): no object of that kind has this name.
	ReasonSubjectNotFound = "SubjectNotFound"

	// ReasonNoSubjects (Unknown): the selector matches no object.
	ReasonNoSubjects = "NoSubjects"

	// ReasonBinding (Unknown): the subjects do not have the address yet.
	ReasonBinding = "Binding"
)

// ReasonNotIntercepted (False, Intercepted): the webhook's configuration has no rule for the kind, as for a moment after
// the first binding of a kind was created, or the webhook is not called for the namespace.
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

// MarkAddressResolved records the address that subjects should have.
func (s *AddressBindingStatus) MarkAddressResolved(value string) {
	s.Value = value
	s.manager().MarkTrue(AddressBindingConditionAddressResolved)
}

// MarkAddressNotResolved records why there is no address, and clears the value: subjects lose it, too.
func (s *AddressBindingStatus) MarkAddressNotResolved(reason, message string) {
	s.Value = ""
	s.manager().MarkFalse(AddressBindingConditionAddressResolved, reason, "%s", samples.Shorten(message))
}

// MarkAddressUnknown records why it is unknown whether an address exists. Subjects keep the one that they have.
func (s *AddressBindingStatus) MarkAddressUnknown(message string) {
	s.manager().MarkUnknown(AddressBindingConditionAddressResolved, ReasonAddressNotReady, "%s", samples.Shorten(message))
}

// LacksAddress reports whether the binding is known to have no address. Otherwise one that has no value has not been reconciled.
func (s *AddressBindingStatus) LacksAddress() bool {
	return s.Value == "" && s.GetCondition(AddressBindingConditionAddressResolved).IsFalse()
}

// MarkSubjectsBound records that every subject has the address.
func (s *AddressBindingStatus) MarkSubjectsBound() {
	s.manager().MarkTrue(AddressBindingConditionSubjectsBound)
}

// MarkBinding records why it is not known yet whether the subjects have the address: one of NoAddress, NoSubjects and Binding. When
// there is no address, Ready keeps the reason of that.
func (s *AddressBindingStatus) MarkBinding(reason, message string) {
	s.manager().MarkUnknown(AddressBindingConditionSubjectsBound, reason, "%s", samples.Shorten(message))
	s.keepFirst(AddressBindingConditionAddressResolved)
}

// MarkSubjectsNotBound records why a subject does not have the address. Without an address, Ready keeps the reason for that, which has precedence.
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

// MarkInterceptionUnknown records that the webhook is not called for the kind, because the operator has not listed it. SubjectsBound
// has the reason.
func (s *AddressBindingStatus) MarkInterceptionUnknown() {
	c := s.GetCondition(AddressBindingConditionSubjectsBound)
	s.manager().MarkUnknown(AddressBindingConditionIntercepted, c.GetReason(), "%s", c.GetMessage())
	s.keepFirst(AddressBindingConditionAddressResolved, AddressBindingConditionSubjectsBound)
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
