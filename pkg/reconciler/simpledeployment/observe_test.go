/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/observe"
)

func podCondition(name corev1.PodConditionType, status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: name, Status: status})
	}
}

func TestObserve_Pods_AreCounted(t *testing.T) {
	type mods = []func(*corev1.Pod)
	for name, tc := range map[string]struct {
		reason string
		mods   mods
		class  class
		ready  bool
	}{
		"running": {reason: "Nothing says that it is ready.", class: active},
		"pending": {reason: "It is about to run.", mods: mods{podPhase(corev1.PodPending, 0)}, class: active},
		"lost":    {reason: "Its node says nothing, and may run it still.", mods: mods{podPhase(corev1.PodUnknown, 0)}, class: active},
		"ready":   {reason: "It says so.", mods: mods{podReady}, class: active, ready: true},
		"not ready": {
			reason: "A gate of it is closed, though its containers are ready.",
			mods:   mods{podCondition(corev1.PodReady, corev1.ConditionFalse), podCondition(corev1.ContainersReady, corev1.ConditionTrue)}, class: active,
		},
		"failed":                  {reason: "It will not start again.", mods: mods{podPhase(corev1.PodFailed, time.Minute)}, class: finished},
		"succeeded":               {reason: "Nor will this.", mods: mods{podPhase(corev1.PodSucceeded, time.Minute)}, class: finished},
		"terminating":             {reason: "It does not count as desired.", mods: mods{podReady, podTerminating}, class: terminating},
		"ended while terminating": {reason: "It is already being deleted.", mods: mods{podPhase(corev1.PodSucceeded, time.Minute), podTerminating}, class: terminating},
	} {
		t.Run(name, func(t *testing.T) {
			p := &reconciliation{sd: object(1), prefix: prefixOf(object(1)), revision: revisionOf(object(1))}
			got := p.podOf(podAt(0, tc.mods...))
			if got.class != tc.class || got.ready != tc.ready {
				t.Errorf("it is of class %d, ready: %t; want class %d, ready: %t\nReason: %s", got.class, got.ready, tc.class, tc.ready, tc.reason)
			}
		})
	}
}

// The index has them in another order each time.
func TestObserve_Pods_AreSortedByName(t *testing.T) {
	var objs []runtime.Object
	for slot := range 9 {
		objs = append(objs, podAt(slot))
	}
	w := newWorld(t, objs...)
	for range 10 {
		for slot, pod := range podsOf(w.inner.pods, object(0)) {
			if pod.Name != podName(slot) {
				t.Fatalf("at place %d is %s", slot, pod.Name)
			}
		}
	}
}

// Any user can write a reference with the UID of an object in another namespace.
func TestIndex_PodsOfAnotherNamespaceClaimTheOwner_AreNotFound(t *testing.T) {
	w := newWorld(t, podAt(0), podAt(1, func(pod *corev1.Pod) { pod.Namespace = "elsewhere" }))
	values := w.pods.ListIndexFuncValues(podsByOwner)
	for _, value := range values {
		found, err := w.pods.ByIndex(podsByOwner, value)
		if err != nil || len(found) != 1 {
			t.Errorf("the index has %d Pods at %s (%v), want those of one namespace", len(found), value, err)
		}
	}
	if found := podsOf(observe.NewLister[*corev1.Pod](w.pods), object(1)); len(found) != 1 || found[0].Namespace != ns {
		t.Errorf("the object's Pods are %v, want the one of its namespace", found)
	}
}
