/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Reasons of events and of waiting states, which are a kubelet's.
const (
	reasonPulling     = "Pulling"
	reasonPulled      = "Pulled"
	reasonCreated     = "Created"
	reasonStarted     = "Started"
	reasonKilling     = "Killing"
	reasonFailed      = "Failed"
	reasonBackOff     = "BackOff"
	reasonInspect     = "InspectFailed"
	reasonUnhealthy   = "Unhealthy"
	reasonFailedMount = "FailedMount"

	reasonErrImagePull = "ErrImagePull"
	reasonImageBackOff = "ImagePullBackOff"
	reasonNeverPull    = "ErrImageNeverPull"
	reasonInvalidName  = "InvalidImageName"
	reasonConfigError  = "CreateContainerConfigError"
	reasonCreateError  = "CreateContainerError"
	reasonRunError     = "RunContainerError"
	reasonCrashLoop    = "CrashLoopBackOff"
)

// problem is the reason for which a container could not be started.
type problem struct {
	// reason and message are those of its waiting state.
	reason, message string
	// event requests an event, with brief in place of the message if it is set.
	event bool
	brief string
	// waited reports whether the delay before the next attempt has passed.
	waited bool
}

func (p *problem) Error() string { return p.reason + ": " + p.message }

func (p *problem) text() string {
	if p.brief != "" {
		return p.brief
	}
	return p.message
}

// event emits an event about the Pod.
func (w *Worker) event(kind, reason, message string) {
	w.node.Recorder.Event(w.Pod(), kind, reason, message)
}

// containerEvent emits an event about one of its containers.
func (w *Worker) containerEvent(container, kind, reason, message string) {
	pod := w.Pod()
	field := "spec.containers"
	for _, c := range pod.Spec.InitContainers {
		if c.Name == container {
			field = "spec.initContainers"
		}
	}
	w.node.Recorder.Event(&corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		ResourceVersion: pod.ResourceVersion, FieldPath: fmt.Sprintf("%s{%s}", field, container),
	}, kind, reason, message)
}
