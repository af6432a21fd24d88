/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package samples

const (
	// AddressBindingFinalizerName is the finalizer of AddressBindings. It has a path for the same reason.
	AddressBindingFinalizerName = GroupName + "/addressbinding"

	// BoundVariablesAnnotationKey marks an object that has variables of AddressBindings. Its value lists them; see pkg/binding.
	BoundVariablesAnnotationKey = "bindings." + GroupName + "/variables"
)
