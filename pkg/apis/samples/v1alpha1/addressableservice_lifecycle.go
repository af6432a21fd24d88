/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// GetGroupVersionKind implements kmeta.OwnerRefable.
func (*AddressableService) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("AddressableService")
}

// GetConditionSet implements duckv1.KRShaped. The conditions are written at v1, so this version depends on none of them.
func (*AddressableService) GetConditionSet() apis.ConditionSet {
	return apis.NewLivingConditionSet()
}

// GetStatus implements duckv1.KRShaped.
func (as *AddressableService) GetStatus() *duckv1.Status {
	return &as.Status.Status
}
