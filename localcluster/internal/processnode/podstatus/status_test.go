/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podstatus

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	waiting   = corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}
	runs      = corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Ready: true}
	succeeded = corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	failed    = corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}}
	backOff   = corev1.ContainerStatus{State: waiting.State, LastTerminationState: failed.State}
)

func TestPhase_ContainerStates_ReturnsThePhase(t *testing.T) {
	for _, c := range []struct {
		name    string
		policy  corev1.RestartPolicy
		init    *corev1.ContainerStatus
		first   corev1.ContainerStatus
		second  corev1.ContainerStatus
		over    bool
		want    corev1.PodPhase
		isReady bool
	}{
		{"both run", corev1.RestartPolicyAlways, &succeeded, runs, runs, false, corev1.PodRunning, true},
		{"one waits", corev1.RestartPolicyAlways, &succeeded, runs, waiting, false, corev1.PodPending, false},
		{"init container runs", corev1.RestartPolicyAlways, &runs, waiting, waiting, false, corev1.PodPending, false},
		{"init container not begun", corev1.RestartPolicyAlways, nil, waiting, waiting, false, corev1.PodPending, false},
		{"init container failed and is restarted", corev1.RestartPolicyOnFailure, &failed, waiting, waiting, false, corev1.PodPending, false},
		{"init container failed for good", corev1.RestartPolicyNever, &failed, waiting, waiting, false, corev1.PodFailed, false},
		{"one waits for its next start", corev1.RestartPolicyAlways, &succeeded, backOff, runs, false, corev1.PodRunning, false},
		{"both wait for their next start", corev1.RestartPolicyOnFailure, &succeeded, backOff, backOff, false, corev1.PodRunning, false},
		{"one is started with another image", corev1.RestartPolicyNever, &succeeded, backOff, succeeded, false, corev1.PodRunning, false},
		{"both succeeded", corev1.RestartPolicyNever, &succeeded, succeeded, succeeded, false, corev1.PodSucceeded, false},
		{"both succeeded and are started again", corev1.RestartPolicyAlways, &succeeded, succeeded, succeeded, false, corev1.PodRunning, false},
		{"one failed for good", corev1.RestartPolicyNever, &succeeded, succeeded, failed, false, corev1.PodFailed, false},
		{"one failed and the other runs", corev1.RestartPolicyNever, &succeeded, runs, failed, false, corev1.PodRunning, false},
		{"deleted and succeeded", corev1.RestartPolicyAlways, &succeeded, succeeded, succeeded, true, corev1.PodSucceeded, false},
		{"deleted and failed", corev1.RestartPolicyAlways, &succeeded, succeeded, failed, true, corev1.PodFailed, false},
		{"deleted before it ran", corev1.RestartPolicyAlways, &succeeded, waiting, waiting, true, corev1.PodFailed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			facts := Facts{
				Pod: &corev1.Pod{Spec: corev1.PodSpec{
					RestartPolicy:  c.policy,
					InitContainers: []corev1.Container{{Name: "init"}},
					Containers:     []corev1.Container{{Name: "first"}, {Name: "second"}},
				}},
				Containers: map[string]corev1.ContainerStatus{"first": c.first, "second": c.second},
				Over:       c.over, PodIP: "10.244.0.2", Now: metav1.Now(),
			}
			if c.init != nil {
				facts.Containers["init"] = *c.init
			}
			status := facts.Status()
			if status.Phase != c.want {
				t.Errorf("the phase is %s instead of %s", status.Phase, c.want)
			}
			for _, condition := range status.Conditions {
				if condition.Type == corev1.PodReady && (condition.Status == corev1.ConditionTrue) != c.isReady {
					t.Errorf("it is ready: %+v", condition)
				}
			}
			// A second report must not be a change, or each would be the reason for the next.
			facts.Pod.Status = status
			facts.Now = metav1.NewTime(facts.Now.Add(1e9))
			if again := facts.Status(); !equality.Semantic.DeepEqual(status, again) {
				t.Errorf("a second report differs: %+v\n%+v", status, again)
			}
		})
	}
}

func TestRestarts_RestartPolicy_Decides(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	plain, sidecar := &corev1.Container{}, &corev1.Container{RestartPolicy: &always}
	for _, c := range []struct {
		name   string
		policy corev1.RestartPolicy
		c      *corev1.Container
		isInit bool
		code   int32
		want   bool
	}{
		{"always, after success", corev1.RestartPolicyAlways, plain, false, 0, true},
		{"always, init after success", corev1.RestartPolicyAlways, plain, true, 0, false},
		{"always, init after failure", corev1.RestartPolicyAlways, plain, true, 1, true},
		{"on failure, after success", corev1.RestartPolicyOnFailure, plain, false, 0, false},
		{"on failure, after failure", corev1.RestartPolicyOnFailure, plain, false, 1, true},
		{"never, after failure", corev1.RestartPolicyNever, plain, false, 1, false},
		{"never, sidecar", corev1.RestartPolicyNever, sidecar, true, 0, true},
	} {
		if got := Restarts(&corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: c.policy}}, c.c, c.isInit, c.code); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// TestPhase_SidecarRunning_PodIsNotCompleted checks that a Pod whose containers have all succeeded runs as long as a sidecar does.
func TestPhase_SidecarRunning_PodIsNotCompleted(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for want, sidecar := range map[corev1.PodPhase]corev1.ContainerStatus{corev1.PodRunning: runs, corev1.PodSucceeded: succeeded} {
		started := true
		sidecar.Started = &started
		facts := Facts{
			Pod: &corev1.Pod{Spec: corev1.PodSpec{
				RestartPolicy:  corev1.RestartPolicyNever,
				InitContainers: []corev1.Container{{Name: "sidecar", RestartPolicy: &always}},
				Containers:     []corev1.Container{{Name: "main"}},
			}},
			Containers: map[string]corev1.ContainerStatus{"sidecar": sidecar, "main": succeeded}, Now: metav1.Now(),
		}
		if got := facts.Status().Phase; got != want {
			t.Errorf("the phase is %s instead of %s", got, want)
		}
	}
}
