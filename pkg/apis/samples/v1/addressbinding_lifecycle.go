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

// Condition types of an AddressBinding. All are always present once the object was reconciled, and True is the good state of each.
const (
	// AddressBindingConditionReady is True when every other condition is.
	AddressBindingConditionReady = apis.ConditionReady

	// AddressBindingConditionAddressResolved is True when the AddressableService has an address. It is Unknown while the operator
	// cannot determine that, and the status keeps the last address.
	AddressBindingConditionAddressResolved apis.ConditionType = "AddressResolved"

	// AddressBindingConditionSubjectsBound is True when every container of every subject has the address. If several reasons apply, the
	// condition has the first one in this table.
	AddressBindingConditionSubjectsBound apis.ConditionType = "SubjectsBound"

	// AddressBindingConditionIntercepted is True when the API server calls the webhook for objects of the subject's kind, so that new ones have the
	// address from the start, or no webhook is installed. It is Unknown, with the reason of SubjectsBound, while the operator has not listed the kind.
	AddressBindingConditionIntercepted apis.ConditionType = "Intercepted"
)

// Reasons of the condition AddressResolved.
const (
	// ReasonAddressNotFound (False): no AddressableService has that name. Remedy: create it.
	ReasonAddressNotFound = "AddressNotFound"

	// ReasonAddressNotReady (False, or Unknown): the AddressableService has no address, or one of more than 4096 characters (False), or the operator
	// does not know whether it has one, so that subjects keep theirs (Unknown). Remedy: see the conditions of the AddressableService; if it has none, no
	// operator serves its class.
	ReasonAddressNotReady = "AddressNotReady"
)

// Reasons of the condition SubjectsBound. If several apply, the condition has the first one in this order.
const (
	// ReasonSubjectKindNotFound (False): the cluster does not serve the kind at that version. Remedy: install the CRD, or correct the version.
	ReasonSubjectKindNotFound = "SubjectKindNotFound"

	// ReasonSubjectKindNotBindable (False): objects of the kind are created by those of another kind, such as the ReplicaSets of a Deployment, or the
	// kind is a built-in one without a Pod template, or is cluster-scoped. Remedy: bind another kind.
	ReasonSubjectKindNotBindable = "SubjectKindNotBindable"

	// ReasonSubjectForbidden (False): the operator is not authorized to list, watch or patch the kind. Remedy: create a ClusterRole with the label
	// duck.knative.dev/podspecable=true. The controller retries with a back-off of up to a minute.
	ReasonSubjectForbidden = "SubjectForbidden"

	// ReasonSubjectUnavailable (False): listing the subjects failed; they keep their variables. Remedy: see the message, and the APIService or the
	// conversion webhook of the kind. The controller retries with exponential back-off.
	ReasonSubjectUnavailable = "SubjectUnavailable"

	// ReasonBindFailed (False): the API server or an admission webhook rejected the patch or did not store it, or another controller reverts it. Remedy:
	// see the message. The controller retries each subject with a back-off of 1 to 30 seconds.
	ReasonBindFailed = "BindFailed"

	// ReasonUnbindFailed (False): listing the objects that may have variables, or removing these, failed, which blocks the deletion of the binding. Remedy:
	// see the message. The controller retries with exponential back-off.
	ReasonUnbindFailed = "UnbindFailed"

	// ReasonSubjectNotPodSpecable (False): the object has no containers at spec.template. Remedy: choose another object.
	ReasonSubjectNotPodSpecable = "SubjectNotPodSpecable"

	// ReasonExcluded (False): a subject or its namespace has the label bindings.knative.dev/exclude=true. Remedy: remove the label.
	ReasonExcluded = "Excluded"

	// ReasonNotIncluded (False): neither a subject nor its namespace has the label bindings.knative.dev/include=true. Remedy: label one of them.
	ReasonNotIncluded = "NotIncluded"

	// ReasonControlled (False): another object controls a subject that lacks the address, and would revert the patch. Remedy: bind the controlling
	// object.
	ReasonControlled = "Controlled"

	// ReasonVariableTaken (False): a container has an environment variable of that name, which is its own or an older binding's. Remedy: remove the
	// variable, change the older binding, which the message names, or choose another variable in spec.variable.
	ReasonVariableTaken = "VariableTaken"

	// ReasonSubjectImmutable (False): a Job existed before the address was available, and the Pod template of a Job is immutable. Remedy: delete and
	// recreate the Job.
	ReasonSubjectImmutable = "SubjectImmutable"

	// ReasonSubjectNotFound (False): no object of that kind has this name. Remedy: create the object.
	ReasonSubjectNotFound = "SubjectNotFound"

	// ReasonNoSubjects (Unknown): the selector matches no object. Remedy: correct the selector, or create an object.
	ReasonNoSubjects = "NoSubjects"

	// ReasonNothingToBind (Unknown): there is no address to bind. Remedy: see the reason of AddressResolved.
	ReasonNothingToBind = "NoAddress"

	// ReasonBinding (Unknown): a subject does not have the address, because the operator waits for the object or the kind that the message names. Remedy:
	// none. If it lasts, see that object, or check that the API server lists objects of that kind.
	ReasonBinding = "Binding"
)

// Reasons of the condition Intercepted. If it is Unknown, it has the reason of SubjectsBound.
const (
	// ReasonNoWebhook (True): the webhook is not installed, so that new objects get their address after they were created.
	ReasonNoWebhook = "NoWebhook"

	// ReasonNotIntercepted (False): the configuration of the webhook has no rule for the kind, as for a moment after the first binding of a kind was
	// created, or excludes the namespace by the label webhooks.knative.dev/exclude. Remedy: remove the label. If the rule stays absent, read the log of
	// the webhook, which writes it.
	ReasonNotIntercepted = "NotIntercepted"
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

// MarkNoWebhook records that new subjects start without their address, as the overlay no-webhooks declares.
func (s *AddressBindingStatus) MarkNoWebhook() {
	const message = "the webhook is not installed: new objects get their address after they were created"
	s.manager().MarkTrueWithReason(AddressBindingConditionIntercepted, ReasonNoWebhook, message)
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
