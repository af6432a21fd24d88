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

// Condition types of a SimpleDeployment. All are always present once the object was reconciled, and True is the good
// state of each.
const (
	// SimpleDeploymentConditionReady is True when every other condition is.
	SimpleDeploymentConditionReady = apis.ConditionReady

	// SimpleDeploymentConditionAvailable says whether as many Pods are ready as are asked for, be they of this spec or
	// of an earlier one.
	SimpleDeploymentConditionAvailable apis.ConditionType = "Available"

	// SimpleDeploymentConditionUpToDate says whether the Pods are those that the spec asks for, and no others. It is
	// Unknown on the way there, and False when something keeps it from getting there.
	SimpleDeploymentConditionUpToDate apis.ConditionType = "UpToDate"
)

var simpleDeploymentConditionSet = apis.NewLivingConditionSet(
	SimpleDeploymentConditionAvailable,
	SimpleDeploymentConditionUpToDate,
)

// GetGroupVersionKind implements kmeta.OwnerRefable.
func (*SimpleDeployment) GetGroupVersionKind() schema.GroupVersionKind {
	return SchemeGroupVersion.WithKind("SimpleDeployment")
}

// GetConditionSet implements duckv1.KRShaped.
func (*SimpleDeployment) GetConditionSet() apis.ConditionSet {
	return simpleDeploymentConditionSet
}

// GetStatus implements duckv1.KRShaped.
func (sd *SimpleDeployment) GetStatus() *duckv1.Status {
	return &sd.Status.Status
}
