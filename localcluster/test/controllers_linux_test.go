//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestStatefulSet_Scale_CreatesAndDeletesPodsInOrder checks that Pods with stable names are created one after the other, and deleted when
// it is scaled down.
func TestStatefulSet_Scale_CreatesAndDeletesPodsInOrder(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	p := n.serving("nest")
	replicas := int32(2)
	if _, err := n.kube.AppsV1().StatefulSets(namespace).Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "nest"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: p.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: p.Spec},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	second := n.until(t, namespace, "nest-1", "ready", ready)
	first := n.until(t, namespace, "nest-0", "ready", ready)
	if second.Status.StartTime.Before(first.Status.StartTime) {
		t.Errorf("nest-1 began %s, before nest-0 at %s", second.Status.StartTime, first.Status.StartTime)
	}
	pods := n.kube.CoreV1().Pods(namespace)
	if err := pods.Delete(t.Context(), "nest-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	n.until(t, namespace, "nest-0", "made again", func(p *corev1.Pod) bool { return p.UID != first.UID && ready(p) })
	if out, err := kubectl(n.process, "scale", "--namespace", namespace, "statefulset/nest", "--replicas=1"); err != nil {
		t.Fatalf("kubectl scale: %v\n%s", err, out)
	}
	eventually(t, "the end of nest-1", func(ctx context.Context) error { return deleted(pods.Get(ctx, "nest-1", metav1.GetOptions{})) })
}

// TestDaemonSet_NodeSelector_CreatesOnePodPerNode checks that each selected Node gets a Pod. Without a selector, the DaemonSet would wait
// for a Pod on the Node that runs nothing.
func TestDaemonSet_NodeSelector_CreatesOnePodPerNode(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	p := n.serving("guard")
	p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "process"}
	if _, err := n.kube.AppsV1().DaemonSets(namespace).Create(t.Context(), &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: p.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: p.Labels}, Spec: p.Spec},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Pod of the Node", func(ctx context.Context) error {
		set, err := n.kube.AppsV1().DaemonSets(namespace).Get(ctx, "guard", metav1.GetOptions{})
		if err == nil && (set.Status.DesiredNumberScheduled != 1 || set.Status.NumberReady != 1) {
			err = fmt.Errorf("the status is %+v", set.Status)
		}
		return err
	})
}

// TestCronJob_Schedule_RunsJobs checks that a schedule creates Jobs, and that they run.
func TestCronJob_Schedule_RunsJobs(t *testing.T) {
	n := sharedNode(t)
	namespace := newNamespace(t, n.kube)
	p := n.duckPod("quack", "env")
	jobs := n.kube.BatchV1().CronJobs(namespace)
	if _, err := jobs.Create(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "quack"},
		Spec: batchv1.CronJobSpec{Schedule: "@every 1s", JobTemplate: batchv1.JobTemplateSpec{
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: p.Spec}},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the success of a Job", func(ctx context.Context) error {
		job, err := jobs.Get(ctx, "quack", metav1.GetOptions{})
		if err == nil && job.Status.LastSuccessfulTime == nil {
			err = fmt.Errorf("the status is %+v", job.Status)
		}
		return err
	})
}
