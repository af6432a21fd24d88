/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"github.com/mallard-dev/mallard/conversion"
	v1beta1storage "github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1/storage"
)

// The reference that a name at this version stands for.
const (
	serviceAPIVersion = "v1"
	serviceKind       = "Service"
)

// AssignPropertiesTo makes of the name a reference to the Service of that name in the same namespace. An empty name
// leads to the target that it was shown for, or else to nothing.
func (in *AddressableServiceSpec) AssignPropertiesTo(dst *v1beta1storage.AddressableServiceSpec) error {
	var stashed *v1beta1storage.TargetReference
	match := dst.PropertyBag.TakeDerived(bagV1beta1Ref, in.ServiceName, &stashed)
	switch {
	case in.ServiceName == nil:
	case *in.ServiceName != "":
		dst.Ref = &v1beta1storage.TargetReference{APIVersion: new(serviceAPIVersion), Kind: new(serviceKind), Name: conversion.Pointer(in.ServiceName)}
	case match == conversion.Exact:
		dst.Ref = stashed
	default:
		dst.Ref = &v1beta1storage.TargetReference{}
	}
	return nil
}

// AssignPropertiesFrom shows the name of a Service in the same namespace. Any other target is kept for as long as the name stays empty.
func (in *AddressableServiceSpec) AssignPropertiesFrom(src *v1beta1storage.AddressableServiceSpec) error {
	in.PropertyBag.Remove(bagV1beta1Ref)
	switch {
	case src.Ref == nil:
		return nil
	case isService(src.Ref):
		in.ServiceName = conversion.Pointer(src.Ref.Name)
		return nil
	}
	in.ServiceName = new("")
	if conversion.IsZero(src.Ref) {
		return nil
	}
	return in.PropertyBag.PutDerived(bagV1beta1Ref, src.Ref, in.ServiceName)
}

// isService reports whether a name represents all of a reference. One that has the namespace written out is another
// one, even if it is the object's own: the namespace would have to be kept, and might then be that of another object.
func isService(ref *v1beta1storage.TargetReference) bool {
	return ref.APIVersion != nil && *ref.APIVersion == serviceAPIVersion && ref.Kind != nil && *ref.Kind == serviceKind &&
		ref.Namespace == nil && ref.Name != nil && *ref.Name != "" && len(ref.PropertyBag) == 0
}
