/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/podstatus"
)

// writeLimit bounds the writing of a status.
const writeLimit = 10 * time.Second

// recall takes over what an earlier start of the Node reported: what ran then was ended with it.
func (w *Worker) recall() {
	all := append(append([]corev1.ContainerStatus{}, w.pod.Status.InitContainerStatuses...), w.pod.Status.ContainerStatuses...)
	for _, status := range all {
		if status.State.Running == nil && status.State.Terminated == nil && status.RestartCount == 0 {
			continue
		}
		again := corev1.ContainerStatus{
			Name: status.Name, Image: status.Image, RestartCount: status.RestartCount, Started: new(bool),
			LastTerminationState: status.LastTerminationState,
			State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: podstatus.ReasonContainerCreating}},
		}
		switch {
		case status.State.Running != nil:
			again.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
				ExitCode: lostCode, Reason: "Unknown", StartedAt: status.State.Running.StartedAt, FinishedAt: metav1.Now(),
				ContainerID: status.ContainerID,
			}
			again.RestartCount++
		case status.State.Terminated != nil:
			again.LastTerminationState.Terminated = status.State.Terminated
			again.RestartCount++
		}
		w.states[status.Name] = &state{status: again}
	}
}

// poke has the status written soon.
func (w *Worker) poke() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// report writes the status whenever it has changed, until the context ends.
func (w *Worker) report(ctx context.Context) {
	w.poke()
	delay := firstRetry
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.changed:
		}
		if err := w.write(ctx); err != nil && ctx.Err() == nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Status of a Pod not written", "pod", w.Pod().Name)
			if !sleep(ctx, delay) {
				return
			}
			delay = min(2*delay, lastRetry)
			w.poke()
			continue
		}
		delay = firstRetry
	}
}

// Status returns the status as it is now.
func (w *Worker) Status() corev1.PodStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.statusOf(w.pod)
}

func (w *Worker) statusOf(pod *corev1.Pod) corev1.PodStatus {
	facts := podstatus.Facts{
		Pod: pod, Containers: map[string]corev1.ContainerStatus{}, PodIP: w.ip, NodeIP: w.node.IP, Started: w.started,
		Over: w.over, Reason: w.reason, Message: w.message, Now: metav1.Now(),
	}
	for name, s := range w.states {
		facts.Containers[name] = *s.status.DeepCopy()
	}
	if w.over || pod.DeletionTimestamp != nil {
		// The status of a Pod that is deleted must not be written.
		for name, status := range maps.Clone(facts.Containers) {
			status.Ready = false
			facts.Containers[name] = status
		}
	}
	return facts.Status()
}

// write brings the status into the API server. Others may write to the Pod at the same time, and what they write stays.
func (w *Worker) write(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	pods := w.node.Client.CoreV1().Pods(w.Pod().Namespace)
	pod := w.Pod()
	for {
		w.mu.Lock()
		status := w.statusOf(pod)
		w.mu.Unlock()
		if equality.Semantic.DeepEqual(status, pod.Status) {
			return nil
		}
		updated := pod.DeepCopy()
		updated.Status = status
		written, err := pods.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
		if err == nil {
			w.Update(written)
			return nil
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		if !apierrors.IsConflict(err) {
			return fmt.Errorf("writing the status: %w", err)
		}
		newer, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && newer.UID != pod.UID {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the Pod: %w", err)
		}
		pod = newer
	}
}

// finish writes the last status, and takes a Pod that is being deleted from the API server, which waits for that.
func (w *Worker) finish(ctx context.Context) {
	for delay := firstRetry; ; delay = min(2*delay, lastRetry) {
		err := w.write(ctx)
		if err == nil && w.Pod().DeletionTimestamp != nil {
			err = w.remove(ctx)
		}
		if err == nil {
			return
		}
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to report the end of a Pod to the API server", "pod", w.Pod().Name)
		w.mu.Lock()
		abandoned := w.abandoned
		w.mu.Unlock()
		if abandoned || !sleep(ctx, delay) {
			return
		}
	}
}

func (w *Worker) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	pod := w.Pod()
	options := metav1.NewPreconditionDeleteOptions(string(pod.UID))
	options.GracePeriodSeconds = new(int64)
	err := w.node.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *options)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("removing the Pod: %w", err)
	}
	return nil
}
