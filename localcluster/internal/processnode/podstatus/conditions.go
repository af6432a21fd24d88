/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podstatus

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

func (f *Facts) conditions(status *corev1.PodStatus, initialized bool) {
	set := func(kind corev1.PodConditionType, ok bool, reason, message string) {
		condition := corev1.PodCondition{
			Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message,
			LastTransitionTime: f.Now, ObservedGeneration: f.Pod.Generation,
		}
		if ok {
			condition.Status = corev1.ConditionTrue
		}
		Place(status, condition)
	}
	set(corev1.PodReadyToStartContainers, f.PodIP != "" && !f.Over, "", "")
	set(corev1.PodScheduled, true, "", "")

	done := status.Phase == corev1.PodSucceeded
	var incomplete, unready []string
	for i := range f.Pod.Spec.InitContainers {
		c := &f.Pod.Spec.InitContainers[i]
		if !f.initDone(c) {
			incomplete = append(incomplete, c.Name)
		}
		if podutil.IsRestartableInitContainer(c) && !f.Containers[c.Name].Ready {
			unready = append(unready, c.Name)
		}
	}
	switch {
	case done:
		set(corev1.PodInitialized, true, ReasonPodCompleted, "")
	case initialized:
		set(corev1.PodInitialized, true, "", "")
	default:
		set(corev1.PodInitialized, false, ReasonContainersNotInitialized, fmt.Sprintf("containers with incomplete status: %s", incomplete))
	}
	for _, c := range f.Pod.Spec.Containers {
		if !f.Containers[c.Name].Ready {
			unready = append(unready, c.Name)
		}
	}
	var reason, message string
	switch {
	case done:
		reason = ReasonPodCompleted
	case status.Phase == corev1.PodFailed:
		reason = ReasonPodFailed
	case len(unready) > 0:
		reason, message = ReasonContainersNotReady, fmt.Sprintf("containers with unready status: %s", unready)
	}
	set(corev1.ContainersReady, reason == "", reason, message)
	if reason == "" {
		reason, message = f.gates()
	}
	set(corev1.PodReady, reason == "", reason, message)
}

// gates returns the conditions set by others that keep the Pod from being ready.
func (f *Facts) gates() (reason, message string) {
	for _, gate := range f.Pod.Spec.ReadinessGates {
		found := corev1.ConditionUnknown
		if _, c := podutil.GetPodCondition(&f.Pod.Status, gate.ConditionType); c != nil {
			found = c.Status
		}
		if found != corev1.ConditionTrue {
			return ReasonReadinessGatesNotReady,
				fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", gate.ConditionType, found)
		}
	}
	return "", ""
}

// Place puts a condition in, and keeps the time of one that has not changed.
func Place(status *corev1.PodStatus, condition corev1.PodCondition) {
	i, old := podutil.GetPodCondition(status, condition.Type)
	if old == nil {
		status.Conditions = append(status.Conditions, condition)
		return
	}
	if old.Status == condition.Status {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	status.Conditions[i] = condition
}
