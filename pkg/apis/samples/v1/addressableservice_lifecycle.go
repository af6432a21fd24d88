/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/kmap"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Condition types of an AddressableService. All are always present once the object was reconciled, and True is the good state of each.
const (
	// AddressableServiceConditionReady is True when every other condition is.
	AddressableServiceConditionReady = apis.ConditionReady

	// AddressableServiceConditionTargetResolved is True when the reference leads to an address, which the status then contains. It is False when
	// the reference is known to lead to no address, and the status has none. It is Unknown when the target or the number of its port could not be
	// determined: the last known addresses stay, also if the spec has changed since, which the message says.
	AddressableServiceConditionTargetResolved apis.ConditionType = "TargetResolved"

	// AddressableServiceConditionPublished is True when the alias of spec.publish points to the address, or none is requested.
	AddressableServiceConditionPublished apis.ConditionType = "Published"
)

// Reasons of the condition TargetResolved. It is False, and there are no addresses, if the reference is known to lead to none. It is Unknown,
// and the last known addresses stay, if the target or the number of its port could not be determined.
const (
	// ReasonTargetNotFound (False): no object of that kind has this name. Remedy: create the object.
	ReasonTargetNotFound = "TargetNotFound"

	// ReasonTargetKindNotFound (False): the cluster does not serve the kind at that version. Remedy: install the CRD, or correct the version. The list is
	// retried with exponential back-off.
	ReasonTargetKindNotFound = "TargetKindNotFound"

	// ReasonTargetNotAddressable (False): the kind is built in, or the status does not have the form of an Addressable's, or its URL has no scheme or
	// host, or exceeds the limits, or a Service has an IP address as its externalName. Remedy: refer to another object, or correct it.
	ReasonTargetNotAddressable = "TargetNotAddressable"

	// ReasonTargetHasNoAddress (False): the target has no status.address.url, or is a Service without a cluster IP. Remedy: see the status of the target,
	// which the address follows.
	ReasonTargetHasNoAddress = "TargetHasNoAddress"

	// ReasonTargetForbidden (Unknown): the operator is not authorized to list and watch the kind. Remedy: create a ClusterRole with the label
	// duck.knative.dev/addressable=true. The list is retried with exponential back-off.
	ReasonTargetForbidden = "TargetForbidden"

	// ReasonTargetUnavailable (Unknown): listing the kind of the target failed, or has not completed yet. Remedy: see the message, and the APIService or
	// the conversion webhook of the kind. The list is retried with exponential back-off.
	ReasonTargetUnavailable = "TargetUnavailable"

	// ReasonCrossNamespaceDenied (False): the target is in another namespace. Remedy: set allow-cross-namespace-references in the ConfigMap
	// config-addressable, or move one of the two objects.
	ReasonCrossNamespaceDenied = "CrossNamespaceDenied"

	// ReasonReferenceCycle (False): the references between AddressableServices form a cycle, or lead through more than 32 of them. Remedy: break the
	// cycle.
	ReasonReferenceCycle = "ReferenceCycle"

	// ReasonPortNotFound (False): the target has no such port or named address. Remedy: correct spec.ports, or the target.
	ReasonPortNotFound = "PortNotFound"

	// ReasonUnsupportedProtocol (False): the port of the Service has a protocol that no URL can express: UDP, SCTP, or an appProtocol without a URL scheme.
	// Remedy: select a port of protocol TCP, or set appProtocol in spec.ports.
	ReasonUnsupportedProtocol = "UnsupportedProtocol"

	// ReasonTargetPortUnknown (Unknown): the Service is headless or of type ExternalName, so that clients need the number of its targetPort, which is a
	// name. Remedy: set targetPort to a number, or refer to a Service with a cluster IP.
	ReasonTargetPortUnknown = "TargetPortUnknown"

	// ReasonHostInvalid (False): the domain template yields no valid host name for this object. Remedy: use a shorter name, or another template.
	ReasonHostInvalid = "HostInvalid"
)

// Reasons of the condition Published.
const (
	// ReasonNotRequested (True): spec.publish is not set.
	ReasonNotRequested = "NotRequested"

	// ReasonNoAddress (Unknown): there is no address to publish; an existing alias stays as it is. Remedy: see the reason of TargetResolved.
	ReasonNoAddress = "NoAddress"

	// ReasonPublishing (Unknown): the alias does not exist yet. Remedy: read the log of the controller if it lasts.
	ReasonPublishing = "Publishing"

	// ReasonAliasTaken (False): a Service of that name exists in the directory namespace and belongs to another object or user, so it is not changed.
	// Remedy: choose another alias, or delete the Service.
	ReasonAliasTaken = "AliasTaken"

	// ReasonDirectoryNotFound (False): the directory namespace does not exist. Remedy: create the namespace.
	ReasonDirectoryNotFound = "DirectoryNotFound"

	// ReasonDirectoryTerminating (False): the directory namespace is being deleted. Remedy: recreate the namespace after its deletion.
	ReasonDirectoryTerminating = "DirectoryTerminating"

	// ReasonHostNotPublishable (False): the host of the address is not a name that an ExternalName Service can have. Remedy: refer to a target with a
	// DNS name as its host.
	ReasonHostNotPublishable = "HostNotPublishable"

	// ReasonPublishFailed (False): writing or deleting an alias failed. Remedy: see the message. The controller retries with exponential back-off.
	ReasonPublishFailed = "PublishFailed"

	// ReasonUnpublishFailed (False): deleting an alias failed, which blocks the deletion of the object. Remedy: see the message. The controller
	// retries with exponential back-off.
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

// MarkTargetResolved records the addresses that the reference led to, of which there must be at least one. The first becomes status.address.
func (s *AddressableServiceStatus) MarkTargetResolved(addresses []duckv1.Addressable) {
	s.Address, s.Addresses = addresses[0].DeepCopy(), addresses
	s.manager().MarkTrue(AddressableServiceConditionTargetResolved)
}

// MarkTargetNotResolved records why the reference is known to lead to no address, and removes the addresses.
func (s *AddressableServiceStatus) MarkTargetNotResolved(reason, message string) {
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

// MarkNotPublished records why the alias does not point to the address: Unknown if there is no address or the alias is about to be created, False
// otherwise. It is called after the target was marked, whose reason Ready keeps.
func (s *AddressableServiceStatus) MarkNotPublished(reason, message string) {
	mark := s.manager().MarkFalse
	if reason == ReasonNoAddress || reason == ReasonPublishing {
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

// directoriesAnnotationKey is the key of the annotation in the status that lists the namespaces in which the object may have aliases; absent for
// none. Users cannot write the status, so that no other object can claim to be an alias.
const directoriesAnnotationKey = samples.GroupName + "/directories"

// Directories returns the namespaces in which the object may have aliases. A namespace is recorded before an alias is created in it, so that
// each alias is found after the configured directory namespace has changed, also if it changed while no process ran.
func (s *AddressableServiceStatus) Directories() []string {
	return strings.Fields(s.Annotations[directoriesAnnotationKey])
}

// SetDirectories records the namespaces in which the object may have aliases.
func (s *AddressableServiceStatus) SetDirectories(namespaces []string) {
	if delete(s.Annotations, directoriesAnnotationKey); len(namespaces) > 0 {
		s.Annotations = kmap.Union(s.Annotations, map[string]string{directoriesAnnotationKey: strings.Join(namespaces, " ")})
	}
}

func (s *AddressableServiceStatus) manager() apis.ConditionManager {
	return addressableServiceConditionSet.Manage(&s.Status)
}
