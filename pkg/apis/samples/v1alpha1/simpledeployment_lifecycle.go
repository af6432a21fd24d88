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

// Condition types of a SimpleDeployment. All are always present once the object was reconciled, and True is the good state of each.
const (
	// SimpleDeploymentConditionReady is True when every other condition is.
	SimpleDeploymentConditionReady = apis.ConditionReady

	// SimpleDeploymentConditionAvailable is True when spec.replicas Pods are ready, updated or outdated, and otherwise Unknown.
	SimpleDeploymentConditionAvailable apis.ConditionType = "Available"

	// SimpleDeploymentConditionUpToDate is True when exactly spec.replicas Pods are active, all of them updated and ready. It is
	// Unknown while the controller replaces, creates or deletes Pods, and False when a request fails.
	SimpleDeploymentConditionUpToDate apis.ConditionType = "UpToDate"
)

// Reasons of the conditions Available and UpToDate.
const (
	// ReasonWaitingForPods (Unknown): Pods are missing, or not ready yet. Remedy: the events of the Pods name the cause.
	ReasonWaitingForPods = "WaitingForPods"
)

// Reasons of the condition UpToDate.
const (
	// ReasonRollingOut (Unknown): outdated Pods are being replaced. Remedy: if it lasts, the events of the newest Pod name the cause.
	ReasonRollingOut = "RollingOut"

	// ReasonScalingDown (Unknown): more Pods exist than spec.replicas. Remedy: see the finalizers and the nodes of the Pods if it lasts.
	ReasonScalingDown = "ScalingDown"

	// ReasonCreateFailed (False): the API server rejected a Pod, for example because a quota is used up, or a Pod whose name is taken could not be read;
	// the message is that of the API server. Remedy: see the message. The controller retries after 1 second at first, then with exponential back-off of
	// up to 30 seconds.
	ReasonCreateFailed = "CreateFailed"

	// ReasonDeleteFailed (False): the API server rejected the deletion of a Pod. The controller creates no Pod while a running one cannot be deleted,
	// and replaces terminated ones as long as at most spec.replicas of them exist. Remedy: see the message. The controller retries as for CreateFailed.
	ReasonDeleteFailed = "DeleteFailed"
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
