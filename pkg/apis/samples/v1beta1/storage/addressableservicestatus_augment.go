/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/conversion"
	v1storage "github.com/mallard-dev/mallard/pkg/apis/samples/v1/storage"
)

// AssignPropertiesTo gives v1 the address, and the further ones as long as it is the address that they were stashed with: a consumer must never see
// an address that the target no longer has.
func (in *AddressableServiceStatus) AssignPropertiesTo(dst *v1storage.AddressableServiceStatus) error {
	addresses := &duckv1.AddressStatus{}
	if dst.PropertyBag.TakeDerived(bagV1AddressStatus, in.Address, addresses) != conversion.Exact {
		if in.Address == nil {
			return nil
		}
		addresses = &duckv1.AddressStatus{}
	}
	addresses.Address = in.Address.DeepCopy()
	dst.AddressStatus = addresses
	return nil
}

// AssignPropertiesFrom shows the first address and stashes the others.
func (in *AddressableServiceStatus) AssignPropertiesFrom(src *v1storage.AddressableServiceStatus) error {
	in.PropertyBag.Remove(bagV1AddressStatus)
	if src.AddressStatus == nil {
		return nil
	}
	in.Address = src.AddressStatus.Address.DeepCopy()
	if in.Address != nil && src.AddressStatus.Addresses == nil {
		return nil
	}
	return in.PropertyBag.PutDerived(bagV1AddressStatus, duckv1.AddressStatus{Addresses: src.AddressStatus.Addresses}, in.Address)
}
