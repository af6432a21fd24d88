/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestPodSecurity_Deployments_AreAdmittedAsRestricted uses the API server's pod security admission, which checks Pods, of which this suite has none: the
// control plane has no controller that makes them of Deployments.
func TestPodSecurity_Deployments_AreAdmittedAsRestricted(t *testing.T) {
	env := harness.Shared(t)
	deployments, err := env.Kube.AppsV1().Deployments(env.SystemNamespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(deployments.Items) != len(accounts) {
		t.Fatalf("listing the Deployments: %v (%d)", err, len(deployments.Items))
	}
	create := func(pod *corev1.Pod) error {
		_, err := env.Kube.CoreV1().Pods(env.SystemNamespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	for _, d := range deployments.Items {
		pod := &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
		pod.Name = d.Name
		if err := create(pod); err != nil {
			t.Errorf("the Pod of Deployment %s is rejected: %v", d.Name, err)
		}
		pod.Spec.Containers[0].SecurityContext = nil
		if err := create(pod); !apierrors.IsForbidden(err) {
			t.Errorf("a Pod without its security context: got error %v, want one that it is forbidden", err)
		}
		if d.Spec.Template.Spec.Containers[0].ReadinessProbe == nil || d.Spec.Template.Spec.Containers[0].LivenessProbe == nil {
			t.Errorf("Deployment %s lacks a probe", d.Name)
		}
	}
}
