/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/podstatus"
)

// simulated is the message in the status of each Pod here; kubectl describe prints it.
const simulated = "The local control plane simulates this Pod: its containers were not started, so they have no logs"

// runningStatus returns the status of a Pod all of whose containers run, starting from the one it has: conditions that
// others set, and the times of what does not change, stay. ip is empty for a Pod on the host's network.
func runningStatus(pod *corev1.Pod, ip string, now metav1.Time) corev1.PodStatus {
	status := *pod.Status.DeepCopy()
	if ip == "" {
		ip = NodeIP
	}
	status.Phase, status.Message = corev1.PodRunning, simulated
	status.ObservedGeneration = pod.Generation
	status.HostIP, status.HostIPs = NodeIP, []corev1.HostIP{{IP: NodeIP}}
	status.PodIP, status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	if status.StartTime == nil {
		status.StartTime = &now
	}

	status.InitContainerStatuses = nil
	for _, c := range pod.Spec.InitContainers {
		started := running(&c, pod, *status.StartTime)
		if !podutil.IsRestartableInitContainer(&c) {
			started.Started = new(bool)
			started.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				Reason: "Completed", StartedAt: *status.StartTime, FinishedAt: *status.StartTime,
			}}
		}
		status.InitContainerStatuses = append(status.InitContainerStatuses, started)
	}
	status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, running(&c, pod, *status.StartTime))
	}

	ready := corev1.ConditionTrue
	for _, gate := range pod.Spec.ReadinessGates {
		if _, c := podutil.GetPodCondition(&pod.Status, gate.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			ready = corev1.ConditionFalse
		}
	}
	for kind, value := range map[corev1.PodConditionType]corev1.ConditionStatus{
		corev1.PodReadyToStartContainers: corev1.ConditionTrue,
		corev1.PodInitialized:            corev1.ConditionTrue,
		corev1.ContainersReady:           corev1.ConditionTrue,
		corev1.PodScheduled:              corev1.ConditionTrue,
		corev1.PodReady:                  ready,
	} {
		setCondition(&status, pod.Generation, kind, value, now)
	}
	return status
}

func running(c *corev1.Container, pod *corev1.Pod, since metav1.Time) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name:        c.Name,
		Image:       c.Image,
		ImageID:     c.Image,
		ContainerID: "localcluster://" + string(pod.UID) + "/" + c.Name,
		Ready:       true,
		Started:     new(true),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
	}
}

func setCondition(
	status *corev1.PodStatus, generation int64, kind corev1.PodConditionType, value corev1.ConditionStatus, now metav1.Time,
) {
	condition := corev1.PodCondition{
		Type: kind, Status: value, LastTransitionTime: now, ObservedGeneration: generation,
	}
	if kind == corev1.PodReady && value == corev1.ConditionFalse {
		condition.Reason, condition.Message = "ReadinessGatesNotReady", "a condition that spec.readinessGates names is not True"
	}
	podstatus.Place(status, condition)
}
