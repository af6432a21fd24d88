/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

func TestRunningStatus_Pod_IsReady(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: "u", Generation: 3},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "setup"}, {Name: "sidecar", RestartPolicy: &always}},
			Containers:     []corev1.Container{{Name: "main", Image: "example.com/main"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "example.com/open"}},
		},
		Status: corev1.PodStatus{QOSClass: corev1.PodQOSBestEffort},
	}
	begin := metav1.NewTime(time.Unix(1000, 0))
	pod.Status = runningStatus(pod, "10.244.0.2", begin)
	if s := pod.Status; s.Phase != corev1.PodRunning || s.PodIP != "10.244.0.2" || s.HostIP != NodeIP || !s.StartTime.Equal(&begin) ||
		s.QOSClass != corev1.PodQOSBestEffort || s.ObservedGeneration != 3 || s.Message != simulated {
		t.Errorf("the status is %+v", s)
	}
	if s := pod.Status.InitContainerStatuses; s[0].State.Terminated == nil || s[1].State.Running == nil {
		t.Errorf("the init containers are %+v", s)
	}
	if s := pod.Status.ContainerStatuses; len(s) != 1 || s[0].State.Running == nil || s[0].Image != "example.com/main" {
		t.Errorf("the containers are %+v", s)
	}
	if podutil.IsPodReady(pod) {
		t.Error("it is Ready before its gate")
	}

	// Nothing changes without a reason, or each report would be the reason for the next.
	later := metav1.NewTime(time.Unix(2000, 0))
	if again := runningStatus(pod, "10.244.0.2", later); !equality.Semantic.DeepEqual(pod.Status, again) {
		t.Errorf("a second report differs:\n%s", cmp.Diff(pod.Status, again))
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "example.com/open", Status: corev1.ConditionTrue})
	pod.Status = runningStatus(pod, "10.244.0.2", later)
	for _, c := range pod.Status.Conditions {
		since := begin
		if c.Type == corev1.PodReady {
			since = later
		}
		if c.Type != "example.com/open" && (c.Status != corev1.ConditionTrue || !c.LastTransitionTime.Equal(&since)) {
			t.Errorf("a condition is %+v", c)
		}
	}
	if _, got := podutil.GetPodCondition(&pod.Status, "example.com/open"); got == nil || got.Status != corev1.ConditionTrue {
		t.Errorf("a condition of another controller is %v now", got)
	}
}

func TestRunningStatus_HostNetwork_HasTheHostAddress(t *testing.T) {
	if status := runningStatus(&corev1.Pod{}, "", metav1.Now()); status.PodIP != NodeIP {
		t.Errorf("a Pod on the host's network has %s", status.PodIP)
	}
}
