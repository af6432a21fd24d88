/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Condition types of a SimpleDeployment. All are always present once the object was reconciled, and True is the good
// state of each.
const (
	// SimpleDeploymentConditionReady is True when every other condition is.
	SimpleDeploymentConditionReady = apis.ConditionReady

	// SimpleDeploymentConditionAvailable reports whether the desired number of Pods is ready, be they of this spec or
	// of an earlier one. It is Unknown while they are not.
	SimpleDeploymentConditionAvailable apis.ConditionType = "Available"

	// SimpleDeploymentConditionUpToDate reports whether the Pods are those of the spec, and no others. It is
	// Unknown on the way there, and False when something keeps it from getting there.
	SimpleDeploymentConditionUpToDate apis.ConditionType = "UpToDate"
)

// Reasons of the conditions Available and UpToDate when they are Unknown.
const (
	// ReasonWaitingForPods: Pods are missing, or not ready yet.
	ReasonWaitingForPods = "WaitingForPods"

	// ReasonRollingOut: Pods of an earlier spec are being replaced. Only UpToDate has it.
	ReasonRollingOut = "RollingOut"

	// ReasonScalingDown: more Pods exist than are desired. Only UpToDate has it.
	ReasonScalingDown = "ScalingDown"
)

// Reasons of the condition UpToDate when it is False.
const (
	// ReasonCreateFailed: the API server rejected a Pod, as when a quota is used up; it is retried.
	ReasonCreateFailed = "CreateFailed"

	// ReasonDeleteFailed: the API server rejected the deletion of a Pod; it is retried, and no Pod is created next to a running one.
	ReasonDeleteFailed = "DeleteFailed"

	// ReasonReadFailed: the Pods could not be read from the API server, which was necessary; it is retried.
	ReasonReadFailed = "ReadFailed"
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

// MarkAvailable records that as many Pods are ready as are desired.
func (s *SimpleDeploymentStatus) MarkAvailable() {
	s.manager().MarkTrue(SimpleDeploymentConditionAvailable)
}

// MarkNotAvailable records that there are not yet as many. It comes before what is said of UpToDate, whose reason Ready
// then has, unless Available is what changed last.
func (s *SimpleDeploymentStatus) MarkNotAvailable(reason, message string) {
	s.manager().MarkUnknown(SimpleDeploymentConditionAvailable, reason, "%s", samples.Shorten(message))
}

// MarkUpToDate records that the Pods are those of the spec.
func (s *SimpleDeploymentStatus) MarkUpToDate() {
	s.manager().MarkTrue(SimpleDeploymentConditionUpToDate)
}

// MarkProgressing records what is still to be done.
func (s *SimpleDeploymentStatus) MarkProgressing(reason, message string) {
	s.manager().MarkUnknown(SimpleDeploymentConditionUpToDate, reason, "%s", samples.Shorten(message))
}

// MarkStuck records the reason for which the Pods cannot become those of the spec.
func (s *SimpleDeploymentStatus) MarkStuck(reason, message string) {
	s.manager().MarkFalse(SimpleDeploymentConditionUpToDate, reason, "%s", samples.Shorten(message))
}

func (s *SimpleDeploymentStatus) manager() apis.ConditionManager {
	return simpleDeploymentConditionSet.Manage(&s.Status)
}
