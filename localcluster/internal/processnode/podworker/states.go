/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/container"
	"github.com/mallard-dev/mallard/localcluster/internal/processnode/podstatus"
)

func (w *Worker) lastCode(name string) int32 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.states[name]; ok && s.status.State.Terminated != nil {
		return s.status.State.Terminated.ExitCode
	}
	return 0
}

// spec returns a container as it is declared now; its image may change while the Pod lives.
func (w *Worker) spec(name string) *corev1.Container {
	return containerOf(w.Pod(), name)
}

func containerOf(pod *corev1.Pod, name string) *corev1.Container {
	for c := range podutil.ContainerIter(&pod.Spec, podutil.InitContainers|podutil.Containers) {
		if c.Name == name {
			return c
		}
	}
	return &corev1.Container{Name: name}
}

// change changes what is known of a container, and has it reported.
func (w *Worker) change(name string, how func(*state)) {
	w.mu.Lock()
	s, ok := w.states[name]
	if !ok {
		s = &state{status: corev1.ContainerStatus{Name: name, Started: new(bool)}}
		w.states[name] = s
	}
	how(s)
	w.mu.Unlock()
	w.poke()
}

// waiting returns the reason for which a container does not run.
func (w *Worker) waiting(name, reason, message string) {
	w.change(name, func(s *state) {
		if s.status.State.Terminated != nil {
			s.status.LastTerminationState = s.status.State
		}
		s.status.Ready, s.status.Started = false, new(bool)
		s.status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
		if s.status.Image == "" {
			s.status.Image = containerOf(w.pod, name).Image
		}
	})
}

// notStarted records an execution that ended before it began.
func (w *Worker) notStarted(name, message string) {
	w.containerEvent(name, corev1.EventTypeWarning, reasonFailed, "Error: "+message)
	now := metav1.Now()
	w.change(name, func(s *state) {
		s.status.LastTerminationState = corev1.ContainerState{}
		s.status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: startCode, Reason: "StartError", Message: message, StartedAt: metav1.Unix(0, 0), FinishedAt: now,
		}}
	})
}

// ended records how a container has ended.
func (w *Worker) ended(name string, e *execution) int32 {
	e.log.Close()
	w.node.Runtime.Release(e.spec.Root, e.mounts)
	code, finished := e.process.Result()
	ended := &corev1.ContainerStateTerminated{
		ExitCode: int32(code), Reason: "Completed", //nolint:gosec // a small number
		StartedAt: metav1.NewTime(e.process.Started), FinishedAt: metav1.NewTime(finished),
	}
	if code != 0 {
		ended.Reason = "Error"
	}
	ended.Message = e.terminationMessage(w.spec(name).TerminationMessagePolicy, code != 0)
	w.change(name, func(s *state) {
		ended.ContainerID = s.status.ContainerID
		s.process, s.execution = nil, nil
		s.status.Ready, s.status.Started = false, new(bool)
		s.status.State = corev1.ContainerState{Terminated: ended}
		if e.isOutdated() {
			// The API server lets no container begin again that has ended for good by the restart policy.
			s.status.LastTerminationState = s.status.State
			s.status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: podstatus.ReasonContainerCreating}}
		}
	})
	return ended.ExitCode
}

// running records a container that was started.
func (w *Worker) running(name string, e *execution) {
	c := w.spec(name)
	w.change(name, func(s *state) {
		if s.status.State.Terminated != nil {
			s.status.LastTerminationState = s.status.State
		}
		s.status.Image, s.status.ImageID = e.declared, e.imageID
		s.status.ContainerID = e.id
		s.status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(e.process.Started)}}
		s.process, s.spec, s.execution = e.process, e.spec, e
		s.compare(containerOf(w.pod, name).Image)
		s.startupDone = c.StartupProbe == nil
		s.probeReady = c.ReadinessProbe == nil
		s.settle()
	})
}

// compare has an execution ended whose image is not the declared one any more.
func (s *state) compare(declared string) {
	if s.execution != nil && s.execution.declared != declared {
		s.execution.outdate()
	}
}

// settle sets started and ready to the results of the probes.
func (s *state) settle() {
	started := s.startupDone && s.process != nil
	s.status.Started = &started
	s.status.Ready = started && s.probeReady
}

// waitStarted waits until a sidecar has started.
func (w *Worker) waitStarted(name string) bool {
	for sleep(w.stop, startedPoll) {
		w.mu.Lock()
		s, ok := w.states[name]
		started := ok && s.status.Started != nil && *s.status.Started
		w.mu.Unlock()
		if started {
			return true
		}
	}
	return false
}

// startedPoll is the interval at which a sidecar that has to start first is checked.
const startedPoll = 50 * time.Millisecond

// Process returns the process of a container and what it was started with, if it runs.
func (w *Worker) Process(name string) (*container.Process, container.Spec, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.states[name]
	if !ok || s.process == nil {
		return nil, container.Spec{}, false
	}
	return s.process, s.spec, true
}

// Log returns the file with the output of a container, or of the execution before.
func (w *Worker) Log(name string, previous bool) (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.states[name]
	if !ok {
		return "", false
	}
	path := s.log
	if previous {
		path = s.previousLog
	}
	return path, path != ""
}
