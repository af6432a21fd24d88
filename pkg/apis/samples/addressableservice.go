/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package samples

const (
	// ClassAnnotationKey is the annotation that selects the operator of an
	// AddressableService. The defaulting webhook fills it on create, the validating webhook rejects later changes.
	ClassAnnotationKey = GroupName + "/addressableservice.class"

	// ClassMallard is the class that this operator serves. Objects of every other class are never written to.
	ClassMallard = "mallard"

	// FinalizerName is the finalizer of AddressableServices of our class. The
	// name that injection-gen derives has no path, about which the API server warns each client that creates an object.
	FinalizerName = GroupName + "/addressableservice"

	// AliasOwnerUIDLabelKey labels an alias Service with the UID of the AddressableService that published it. The UID, not the name, decides
	// ownership: an object that was deleted and created again is another owner.
	AliasOwnerUIDLabelKey = GroupName + "/addressableservice-uid"

	// AliasOwnerAnnotationKey annotates an alias Service with the namespace/name of the AddressableService that published it, for people and for
	// finding the owner of an event; names may be too long for a label.
	AliasOwnerAnnotationKey = GroupName + "/addressableservice"
)
