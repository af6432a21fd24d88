/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const fieldManager = "processes"

// tally holds the numbers of a Deployment's replicas that are desired, run and are ready.
type tally struct{ wanted, running, ready int32 }

// publish writes the tally to the status of a Deployment in the terms of the Deployment controller, which is what
// `kubectl get`, `kubectl wait` and `kubectl rollout status` read.
func publish(ctx context.Context, kube kubernetes.Interface, name types.NamespacedName, t tally) error {
	deployments := kube.AppsV1().Deployments(name.Namespace)
	deployment, err := deployments.Get(ctx, name.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading deployment %s: %w", name, err)
	}
	patch, err := json.Marshal(map[string]any{"status": status(deployment, t, metav1.NewTime(time.Now()))})
	if err != nil {
		return fmt.Errorf("writing the status of deployment %s: %w", name, err)
	}
	_, err = deployments.Patch(ctx, name.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "status")
	if err != nil {
		return fmt.Errorf("writing the status of deployment %s: %w", name, err)
	}
	return nil
}

// status is written out as a map since a merge patch has to say the zeros that the struct omits.
func status(deployment *appsv1.Deployment, t tally, now metav1.Time) map[string]any {
	available := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable",
		Message: fmt.Sprintf("%d of %d local processes are ready.", t.ready, t.wanted),
	}
	if t.ready < t.wanted {
		available.Status, available.Reason = corev1.ConditionFalse, "MinimumReplicasUnavailable"
	}
	progressing := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable",
		Message: fmt.Sprintf("%d of %d local processes run.", t.running, t.wanted),
	}
	if t.running < t.wanted {
		progressing.Reason = "ReplicaSetUpdated"
	}
	conditions := []appsv1.DeploymentCondition{available, progressing}
	for i := range conditions {
		stamp(&conditions[i], deployment.Status.Conditions, now)
	}
	return map[string]any{
		"observedGeneration":  deployment.Generation,
		"replicas":            t.running,
		"updatedReplicas":     t.running,
		"readyReplicas":       t.ready,
		"availableReplicas":   t.ready,
		"unavailableReplicas": max(t.wanted-t.ready, 0),
		"conditions":          conditions,
	}
}

// stamp keeps the transition time of a condition whose status stays.
func stamp(c *appsv1.DeploymentCondition, before []appsv1.DeploymentCondition, now metav1.Time) {
	c.LastUpdateTime, c.LastTransitionTime = now, now
	for _, old := range before {
		if old.Type == c.Type && old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
}
