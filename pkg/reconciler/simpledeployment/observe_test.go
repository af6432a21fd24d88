/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// podCondition adds a condition that became what it is so long ago.
func podCondition(name corev1.PodConditionType, status corev1.ConditionStatus, ago time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions,
			corev1.PodCondition{Type: name, Status: status, LastTransitionTime: metav1.NewTime(epoch.Add(-ago))})
	}
}

// podContainers has one container for each of these, that ended so long ago.
func podContainers(ended ...time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = nil
		for _, ago := range ended {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(epoch.Add(-ago))},
			}})
		}
	}
}

func TestWhatAPodCountsAs(t *testing.T) {
	type mods = []func(*corev1.Pod)
	for name, tc := range map[string]struct {
		reason string
		mods   mods
		class  class
		ready  bool
		// ended is how long ago a finished one ended.
		ended time.Duration
	}{
		"running": {reason: "Nothing says that it is ready.", class: active},
		"pending": {reason: "It is about to run.", mods: mods{podPhase(corev1.PodPending, 0), podContainers()}, class: active},
		"lost":    {reason: "Its node says nothing, and may run it still.", mods: mods{podPhase(corev1.PodUnknown, 0), podContainers()}, class: active},
		"ready":   {reason: "It says so.", mods: mods{podReady}, class: active, ready: true},
		"not ready": {
			reason: "A gate of it is closed, though its containers are ready.",
			mods:   mods{podCondition(corev1.PodReady, corev1.ConditionFalse, 0), podCondition(corev1.ContainersReady, corev1.ConditionTrue, 0)}, class: active,
		},
		"failed":    {reason: "It will not start again.", mods: mods{podPhase(corev1.PodFailed, time.Minute)}, class: finished, ended: time.Minute},
		"succeeded": {reason: "Nor will this.", mods: mods{podPhase(corev1.PodSucceeded, time.Minute)}, class: finished, ended: time.Minute},
		"ended container by container": {
			reason: "The last of them counts.",
			mods:   mods{podPhase(corev1.PodFailed, 0), podContainers(3*time.Minute, time.Minute, 2*time.Minute)}, class: finished, ended: time.Minute,
		},
		"refused by its node": {
			reason: "No container of it ever ran.",
			mods:   mods{podPhase(corev1.PodFailed, 0), podContainers(), podCondition(corev1.PodReady, corev1.ConditionFalse, time.Minute)},
			class:  finished, ended: time.Minute,
		},
		"finished without a time": {
			reason: "It was not before it was made.", mods: mods{podPhase(corev1.PodFailed, 0), podContainers()}, class: finished, ended: 100 * time.Minute,
		},
		"terminating":             {reason: "It is none of those asked for.", mods: mods{podReady, podTerminating}, class: terminating},
		"ended while terminating": {reason: "It goes without us.", mods: mods{podPhase(corev1.PodSucceeded, time.Minute), podTerminating}, class: terminating},
	} {
		t.Run(name, func(t *testing.T) {
			p := &pass{sd: object(1), prefix: prefixOf(object(1)), revision: revisionOf(object(1))}
			got := p.podOf(podAt(0, tc.mods...))
			var ended time.Time
			if tc.class == finished {
				ended = epoch.Add(-tc.ended)
			}
			if got.class != tc.class || got.ready != tc.ready || !got.ended.Equal(ended) {
				t.Errorf("it is of class %d, ready: %t, ended at %s; want class %d, ready: %t, ended at %s\nReason: %s",
					got.class, got.ready, got.ended, tc.class, tc.ready, ended, tc.reason)
			}
		})
	}
}

// The index has them in another order each time.
func TestPodsAreLookedAtInTheOrderOfTheirNames(t *testing.T) {
	var objs []runtime.Object
	for slot := range 9 {
		objs = append(objs, podAt(slot))
	}
	w := newWorld(t, objs...)
	for range 10 {
		for slot, pod := range podsOf(w.pods, object(0)) {
			if pod.Name != podName(slot) {
				t.Fatalf("at place %d is %s", slot, pod.Name)
			}
		}
	}
}

// A status that is written wakes the object, so words that are others each time must not be written each time.
func TestMessageOfAProblemStaysForAWhile(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		ago    time.Duration
		want   string
	}{
		"Young":        {reason: v1alpha1.ReasonCreateFailed, ago: time.Second, want: "old"},
		"Old":          {reason: v1alpha1.ReasonCreateFailed, ago: problem.LastRecheck, want: "new"},
		"OtherProblem": {reason: v1alpha1.ReasonDeleteFailed, ago: time.Second, want: "new"},
	} {
		t.Run(name, func(t *testing.T) {
			last := &apis.Condition{Status: corev1.ConditionFalse, Reason: tc.reason, Message: "old"}
			last.LastTransitionTime.Inner = metav1.NewTime(time.Now().Add(-tc.ago))
			if got := steady(last, problem.Newf(v1alpha1.ReasonCreateFailed, "new")); got != tc.want {
				t.Errorf("the message is %q, want %q", got, tc.want)
			}
		})
	}
	if got := steady(nil, problem.Newf(v1alpha1.ReasonCreateFailed, "new")); got != "new" {
		t.Errorf("the first message is %q", got)
	}
}
