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

// Condition types of an AddressableService. All are always present once the
// object was reconciled, and True is the good state of each.
const (
	// AddressableServiceConditionReady is True when every other condition is.
	AddressableServiceConditionReady = apis.ConditionReady

	// AddressableServiceConditionTargetResolved says whether the reference led
	// to an address, which then is in the status.
	AddressableServiceConditionTargetResolved apis.ConditionType = "TargetResolved"

	// AddressableServiceConditionPublished says whether the alias that was asked
	// for points to the address. It is True with reason NotRequested when none
	// was, and Unknown as long as there is no address to publish.
	AddressableServiceConditionPublished apis.ConditionType = "Published"
)

// Reasons of the condition TargetResolved when it is False.
const (
	// ReasonTargetNotFound: no object of that kind has this name.
	ReasonTargetNotFound = "TargetNotFound"

	// ReasonTargetKindNotFound: the cluster does not serve the kind at that
	// version. Installing its CRD later is noticed.
	ReasonTargetKindNotFound = "TargetKindNotFound"

	// ReasonTargetNotAddressable: the object has no usable status.address.url
	// and nothing says that its kind ever will.
	ReasonTargetNotAddressable = "TargetNotAddressable"

	// ReasonTargetHasNoAddress: the target is Addressable but has no address yet.
	ReasonTargetHasNoAddress = "TargetHasNoAddress"

	// ReasonTargetForbidden: the operator may not watch the kind. A ClusterRole
	// labelled duck.knative.dev/addressable=true grants it.
	ReasonTargetForbidden = "TargetForbidden"

	// ReasonTargetUnavailable: reading the target failed; it is tried again.
	ReasonTargetUnavailable = "TargetUnavailable"

	// ReasonCrossNamespaceDenied: the target is in another namespace, which the
	// config map config-addressable does not allow.
	ReasonCrossNamespaceDenied = "CrossNamespaceDenied"

	// ReasonReferenceCycle: the references lead back to where they started.
	ReasonReferenceCycle = "ReferenceCycle"

	// ReasonPortNotFound: the target has no port, or no named address, as spec.ports asks.
	ReasonPortNotFound = "PortNotFound"

	// ReasonHostInvalid: the domain template makes no valid host name for this object.
	ReasonHostInvalid = "HostInvalid"
)

// Reasons of the condition Published.
const (
	// ReasonNotRequested (True): spec.publish is empty.
	ReasonNotRequested = "NotRequested"

	// ReasonNoAddress (Unknown): there is no address to publish.
	ReasonNoAddress = "NoAddress"

	// ReasonAliasTaken (False): a Service of that name exists in the directory
	// namespace and is not this object's. It is left alone.
	ReasonAliasTaken = "AliasTaken"

	// ReasonDirectoryNotFound (False): the directory namespace does not exist.
	ReasonDirectoryNotFound = "DirectoryNotFound"

	// ReasonDirectoryTerminating (False): the directory namespace is being deleted.
	ReasonDirectoryTerminating = "DirectoryTerminating"

	// ReasonHostNotPublishable (False): an ExternalName Service cannot point to the address's host.
	ReasonHostNotPublishable = "HostNotPublishable"

	// ReasonPublishFailed (False): writing the alias failed; it is tried again.
	ReasonPublishFailed = "PublishFailed"

	// ReasonUnpublishFailed (False): removing an alias failed, which holds up
	// the deletion of the object; it is tried again.
	ReasonUnpublishFailed = "UnpublishFailed"
)

var addressableServiceConditionSet = apis.NewLivingConditionSet(
	AddressableServiceConditionTargetResolved,
	AddressableServiceConditionPublished,
)

// GetGroupVersionKind implements kmeta.OwnerRefable.
func (*AddressableService) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("AddressableService")
}

// GetConditionSet implements duckv1.KRShaped.
func (*AddressableService) GetConditionSet() apis.ConditionSet {
	return addressableServiceConditionSet
}

// GetStatus implements duckv1.KRShaped.
func (as *AddressableService) GetStatus() *duckv1.Status {
	return &as.Status.Status
}

// MarkTargetResolved records the addresses that the reference led to, of which
// there must be at least one. The first becomes status.address.
func (s *AddressableServiceStatus) MarkTargetResolved(addresses []duckv1.Addressable) {
	first := addresses[0].DeepCopy()
	s.Address, s.Addresses = first, addresses
	s.manager().MarkTrue(AddressableServiceConditionTargetResolved)
}

// MarkTargetNotResolved records why the reference led to no address, and takes
// the addresses away: a consumer must never see one beside Ready=False.
func (s *AddressableServiceStatus) MarkTargetNotResolved(reason, message string) {
	s.Address, s.Addresses = nil, nil
	s.manager().MarkFalse(AddressableServiceConditionTargetResolved, reason, "%s", samples.Shorten(message))
}

// MarkPublished records that the alias points to the address.
func (s *AddressableServiceStatus) MarkPublished() {
	s.manager().MarkTrue(AddressableServiceConditionPublished)
}

// MarkNotRequested records that no alias is asked for.
func (s *AddressableServiceStatus) MarkNotRequested() {
	s.manager().MarkTrueWithReason(AddressableServiceConditionPublished, ReasonNotRequested,
		"spec.publish asks for no alias")
}

// MarkNoAddressToPublish records that the alias waits for an address. It is to
// be called after MarkTargetNotResolved, whose reason Ready keeps.
func (s *AddressableServiceStatus) MarkNoAddressToPublish() {
	s.manager().MarkUnknown(AddressableServiceConditionPublished, ReasonNoAddress,
		"there is no address to publish")
}

// MarkNotPublished records why the alias does not point to the address. When there
// is none because of the target, Ready keeps the target's reason: it comes first.
func (s *AddressableServiceStatus) MarkNotPublished(reason, message string) {
	s.manager().MarkFalse(AddressableServiceConditionPublished, reason, "%s", samples.Shorten(message))
	if target := s.GetCondition(AddressableServiceConditionTargetResolved); target.IsFalse() {
		s.manager().MarkFalse(AddressableServiceConditionTargetResolved, target.Reason, "%s", target.Message)
	}
}

func (s *AddressableServiceStatus) manager() apis.ConditionManager {
	return addressableServiceConditionSet.Manage(&s.Status)
}
