/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package samples

import "k8s.io/apimachinery/pkg/runtime/schema"

const (
	// GroupName is the API group of the samples. It is the group of Knative's
	// sample-controller, so that manifests written for that one apply here.
	GroupName = "samples.knative.dev"

	// ClassAnnotationKey is the annotation that says which operator serves an
	// AddressableService. The defaulting webhook fills it on create, the
	// validating webhook refuses to change it afterwards.
	ClassAnnotationKey = GroupName + "/addressableservice.class"

	// ClassMallard is the class that this operator serves. Objects of every
	// other class are never written to.
	ClassMallard = "mallard"

	// FinalizerName is the finalizer of AddressableServices of our class. The
	// name that injection-gen derives has no path, of which the API server warns
	// everyone who creates an object.
	FinalizerName = GroupName + "/addressableservice"

	// AddressBindingFinalizerName is the finalizer of AddressBindings. It has a path for the same reason.
	AddressBindingFinalizerName = GroupName + "/addressbinding"

	// BoundVariablesAnnotationKey marks an object that has variables of AddressBindings. Its value says which; see pkg/binding.
	BoundVariablesAnnotationKey = "bindings." + GroupName + "/variables"

	// AliasOwnerUIDLabelKey labels an alias Service with the UID of the
	// AddressableService that published it. The UID, not the name, decides
	// ownership: an object that was deleted and created again is another owner.
	AliasOwnerUIDLabelKey = GroupName + "/addressableservice-uid"

	// AliasOwnerAnnotationKey annotates an alias Service with the
	// namespace/name of the AddressableService that published it, for people
	// and for finding the owner of an event; names may be too long for a label.
	AliasOwnerAnnotationKey = GroupName + "/addressableservice"

	// PodOwnerUIDLabelKey labels a Pod with the UID of the SimpleDeployment that made it. By it the operator watches these Pods and no
	// others, and by it Services and autoscalers find them. That a Pod is ours it does not say; its controller reference does.
	PodOwnerUIDLabelKey = GroupName + "/simpledeployment-uid"

	// PodOwnerNameLabelKey labels a Pod with the name of the SimpleDeployment that made it, for the selectors of Services. A name
	// of more than 63 characters is shortened.
	PodOwnerNameLabelKey = GroupName + "/simpledeployment"

	// PodRevisionLabelKey labels a Pod with what it was made from, as a hash.
	PodRevisionLabelKey = GroupName + "/simpledeployment-revision"
)

// Kind returns a kind of the group.
func Kind(kind string) schema.GroupKind { return schema.GroupKind{Group: GroupName, Kind: kind} }
