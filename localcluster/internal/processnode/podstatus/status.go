/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podstatus

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// Reasons of conditions and states, which are a kubelet's.
const (
	ReasonContainersNotInitialized = "ContainersNotInitialized"
	ReasonContainersNotReady       = "ContainersNotReady"
	ReasonPodCompleted             = "PodCompleted"
	ReasonPodFailed                = "PodFailed"
	ReasonReadinessGatesNotReady   = "ReadinessGatesNotReady"
	ReasonPodInitializing          = "PodInitializing"
	ReasonContainerCreating        = "ContainerCreating"
)

// Facts hold the inputs of a status.
type Facts struct {
	// Pod is the newest Pod, whose status has the conditions that others set.
	Pod *corev1.Pod
	// Containers are the states by name, those of init containers among them. One that is missing has not been begun.
	Containers map[string]corev1.ContainerStatus
	// PodIP and NodeIP are its addresses.
	PodIP, NodeIP string
	// Started is the time at which the Node accepted the Pod.
	Started metav1.Time
	// Over reports whether no further container will be started, because the Pod is being deleted or its deadline has passed.
	Over bool
	// Reason and Message describe the failure of the Pod as a whole, if its containers are not the cause.
	Reason, Message string
	// Now is the time of what changes.
	Now metav1.Time
}

// Status returns the whole status.
func (f *Facts) Status() corev1.PodStatus {
	status := *f.Pod.Status.DeepCopy()
	status.ObservedGeneration = f.Pod.Generation
	status.StartTime = &f.Started
	status.HostIP, status.HostIPs = f.NodeIP, []corev1.HostIP{{IP: f.NodeIP}}
	if f.PodIP != "" {
		status.PodIP, status.PodIPs = f.PodIP, []corev1.PodIP{{IP: f.PodIP}}
	}
	initialized := f.Initialized()
	status.InitContainerStatuses = f.statuses(f.Pod.Spec.InitContainers, ReasonPodInitializing)
	waiting := ReasonContainerCreating
	if !initialized {
		waiting = ReasonPodInitializing
	}
	status.ContainerStatuses = f.statuses(f.Pod.Spec.Containers, waiting)
	status.Phase = f.phase(initialized)
	status.Reason, status.Message = f.Reason, f.Message
	f.conditions(&status, initialized)
	return status
}

func (f *Facts) statuses(containers []corev1.Container, waiting string) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for _, c := range containers {
		status, ok := f.Containers[c.Name]
		if !ok {
			status = corev1.ContainerStatus{
				Name: c.Name, Image: c.Image, Started: new(bool),
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: waiting}},
			}
		}
		all = append(all, status)
	}
	return all
}

// Restarts reports whether a container that ended with a code is started again.
func Restarts(pod *corev1.Pod, c *corev1.Container, isInit bool, code int32) bool {
	if podutil.IsRestartableInitContainer(c) {
		return true
	}
	switch pod.Spec.RestartPolicy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return code != 0
	default:
		return !isInit || code != 0
	}
}

// Initialized reports whether all init containers have done their work, or, sidecars, have started.
func (f *Facts) Initialized() bool {
	for i := range f.Pod.Spec.InitContainers {
		if !f.initDone(&f.Pod.Spec.InitContainers[i]) {
			return false
		}
	}
	return true
}

func (f *Facts) initDone(c *corev1.Container) bool {
	status, ok := f.Containers[c.Name]
	if !ok {
		return false
	}
	if podutil.IsRestartableInitContainer(c) {
		return status.Started != nil && *status.Started || f.Over
	}
	return status.State.Terminated != nil && status.State.Terminated.ExitCode == 0
}

// phase follows a kubelet's rules.
func (f *Facts) phase(initialized bool) corev1.PodPhase {
	if f.Reason != "" {
		return corev1.PodFailed
	}
	if !initialized {
		for _, c := range f.Pod.Spec.InitContainers {
			ended := f.Containers[c.Name].State.Terminated
			if ended != nil && ended.ExitCode != 0 && (f.Over || !Restarts(f.Pod, &c, true, ended.ExitCode)) {
				return corev1.PodFailed
			}
		}
		if f.Over {
			return corev1.PodFailed
		}
		return corev1.PodPending
	}
	var waiting, running, succeeded, failed int
	for _, c := range f.Pod.Spec.InitContainers {
		if podutil.IsRestartableInitContainer(&c) && f.Containers[c.Name].State.Running != nil {
			// They end after the others, and the Pod is not over before.
			running++
		}
	}
	for _, c := range f.Pod.Spec.Containers {
		status, ok := f.Containers[c.Name]
		switch {
		case !ok:
			waiting++
		case status.State.Running != nil:
			running++
		case status.State.Terminated != nil && status.State.Terminated.ExitCode == 0:
			succeeded++
		case status.State.Terminated != nil:
			failed++
		case status.LastTerminationState.Terminated != nil && f.Pod.Spec.RestartPolicy == corev1.RestartPolicyNever && !f.Over:
			// It was ended to be started with another image.
			running++
		case status.LastTerminationState.Terminated != nil:
			// Waiting for its next start.
			failed++
		default:
			waiting++
		}
	}
	switch {
	case f.Over && running == 0:
		if failed+waiting == 0 {
			return corev1.PodSucceeded
		}
		return corev1.PodFailed
	case waiting > 0:
		return corev1.PodPending
	case running > 0 || f.Pod.Spec.RestartPolicy == corev1.RestartPolicyAlways:
		return corev1.PodRunning
	case failed == 0:
		return corev1.PodSucceeded
	case f.Pod.Spec.RestartPolicy == corev1.RestartPolicyNever:
		return corev1.PodFailed
	default:
		return corev1.PodRunning
	}
}
