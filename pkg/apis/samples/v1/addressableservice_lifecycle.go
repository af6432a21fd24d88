/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"strconv"

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

	// AddressableServiceConditionTargetResolved reports whether the reference was resolved to an address, which then is in the status.
	AddressableServiceConditionTargetResolved apis.ConditionType = "TargetResolved"

	// AddressableServiceConditionPublished reports whether the requested alias points to the address. It is True with reason NotRequested when none
	// was, and Unknown as long as there is no address to publish.
	AddressableServiceConditionPublished apis.ConditionType = "Published"
)

// Reasons of the condition TargetResolved. It is False, and there are no addresses, if the
// reference is known to lead to none. It is Unknown, and the last known addresses stay, if
// the target could not be looked up.
const (
	// ReasonTargetNotFound (False): no object of that kind has this name.
	ReasonTargetNotFound = "TargetNotFound"

	// ReasonTargetKindNotFound (False): the cluster does not serve the kind at that
	// version. Installing its CRD later is noticed.
	ReasonTargetKindNotFound = "TargetKindNotFound"

	// ReasonTargetNotAddressable (False): the object has no usable status.address.url
	// and nothing says that its kind ever will, or its address is invalid.
	ReasonTargetNotAddressable = "TargetNotAddressable"

	// ReasonTargetHasNoAddress (False): the target is Addressable but has no address yet.
	ReasonTargetHasNoAddress = "TargetHasNoAddress"

	// ReasonTargetOutOfScope (False): the kind is cluster-scoped, and this installation
	// watches a single namespace.
	ReasonTargetOutOfScope = "TargetOutOfScope"

	// ReasonTargetForbidden (Unknown): the operator is not authorized to watch the kind.
	// A ClusterRole labeled duck.knative.dev/addressable=true grants it.
	ReasonTargetForbidden = "TargetForbidden"

	// ReasonTargetUnavailable (Unknown): reading the target failed; it is retried.
	ReasonTargetUnavailable = "TargetUnavailable"

	// ReasonTargetNotSynced (Unknown): the first list of the target's kind, or its
	// discovery, has not completed yet.
	ReasonTargetNotSynced = "TargetNotSynced"

	// ReasonCrossNamespaceDenied (False): the target is in another namespace, which the
	// ConfigMap config-addressable does not allow.
	ReasonCrossNamespaceDenied = "CrossNamespaceDenied"

	// ReasonReferenceCycle (False): the references lead back to where they started, or
	// through too many AddressableServices.
	ReasonReferenceCycle = "ReferenceCycle"

	// ReasonPortNotFound (False): the target has no port, or no named address, as spec.ports asks.
	ReasonPortNotFound = "PortNotFound"

	// ReasonHostInvalid (False): the domain template makes no valid host name for this object.
	ReasonHostInvalid = "HostInvalid"
)

// Reasons of the condition Published.
const (
	// ReasonNotRequested (True): spec.publish is empty.
	ReasonNotRequested = "NotRequested"

	// ReasonNoAddress (Unknown): there is no address to publish. An existing alias stays as it is.
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

	// ReasonPublishFailed (False): writing the alias failed; it is retried.
	ReasonPublishFailed = "PublishFailed"

	// ReasonUnpublishFailed (False): removing an alias failed, which blocks the deletion of the object; it is retried.
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

// hopsAnnotationKey is the key of the annotation in the status that counts the
// AddressableServices through which the reference leads; absent for none. A status
// update enqueues the objects that refer to this one, so their counts follow.
const hopsAnnotationKey = samples.GroupName + "/hops"

// Hops returns through how many AddressableServices the reference led to the addresses.
func (s *AddressableServiceStatus) Hops() int {
	// Only SetHops writes it; a value that is no number counts as absent.
	hops, _ := strconv.Atoi(s.Annotations[hopsAnnotationKey])
	return hops
}

// MarkTargetResolved records the addresses that the reference led to, of which
// there must be at least one. The first becomes status.address.
func (s *AddressableServiceStatus) MarkTargetResolved(addresses []duckv1.Addressable) {
	s.Address, s.Addresses = addresses[0].DeepCopy(), addresses
	s.manager().MarkTrue(AddressableServiceConditionTargetResolved)
}

// MarkTargetNotResolved records why the reference is known to lead to no address, and
// removes the addresses.
func (s *AddressableServiceStatus) MarkTargetNotResolved(reason, message string) {
	s.SetHops(0)
	s.Address, s.Addresses = nil, nil
	s.manager().MarkFalse(AddressableServiceConditionTargetResolved, reason, "%s", samples.Shorten(message))
}

// MarkTargetUnknown records why the target could not be looked up. The last known
// addresses stay, also if they are those of an earlier generation of the spec.
func (s *AddressableServiceStatus) MarkTargetUnknown(reason, message string) {
	if s.Address != nil {
		message += "; status.address is the last known one"
	}
	s.manager().MarkUnknown(AddressableServiceConditionTargetResolved, reason, "%s", samples.Shorten(message))
}

// MarkPublished records that the alias points to the address.
func (s *AddressableServiceStatus) MarkPublished() {
	s.manager().MarkTrue(AddressableServiceConditionPublished)
}

// MarkNotRequested records that no alias is requested.
func (s *AddressableServiceStatus) MarkNotRequested() {
	s.manager().MarkTrueWithReason(AddressableServiceConditionPublished, ReasonNotRequested,
		"spec.publish requests no alias")
}

// MarkNotPublished records why the alias does not point to the address: Unknown if
// there is no address, False otherwise. It is called after the target was marked,
// whose reason Ready keeps.
func (s *AddressableServiceStatus) MarkNotPublished(reason, message string) {
	mark := s.manager().MarkFalse
	if reason == ReasonNoAddress {
		mark = s.manager().MarkUnknown
	}
	mark(AddressableServiceConditionPublished, reason, "%s", samples.Shorten(message))
	switch target := s.GetCondition(AddressableServiceConditionTargetResolved); {
	case target.IsFalse():
		s.manager().MarkFalse(target.Type, target.Reason, "%s", target.Message)
	case target.IsUnknown():
		s.manager().MarkUnknown(target.Type, target.Reason, "%s", target.Message)
	}
}

// SetHops records through how many AddressableServices the reference led.
func (s *AddressableServiceStatus) SetHops(hops int) {
	if hops > 0 {
		if s.Annotations == nil {
			s.Annotations = make(map[string]string, 1)
		}
		s.Annotations[hopsAnnotationKey] = strconv.Itoa(hops)
		return
	}
	if delete(s.Annotations, hopsAnnotationKey); len(s.Annotations) == 0 {
		s.Annotations = nil
	}
}

func (s *AddressableServiceStatus) manager() apis.ConditionManager {
	return addressableServiceConditionSet.Manage(&s.Status)
}
