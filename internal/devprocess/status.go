/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devprocess

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const fieldManager = "devprocess"

// tally is how many of a Deployment's replicas are wanted, run and are ready.
type tally struct{ wanted, running, ready int32 }

// publish writes the tally to the status of a Deployment in the terms of the Deployment controller, which is what
// `kubectl get`, `kubectl wait` and `kubectl rollout status` read.
func publish(ctx context.Context, kube kubernetes.Interface, name types.NamespacedName, t tally) error {
	deployments := kube.AppsV1().Deployments(name.Namespace)
	deployment, err := deployments.Get(ctx, name.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading deployment %s: %w", name, err)
	}
	patch, err := json.Marshal(map[string]any{"status": status(deployment, t)})
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
func status(deployment *appsv1.Deployment, t tally) map[string]any {
	isAvailable, available := corev1.ConditionTrue, "MinimumReplicasAvailable"
	if t.ready < t.wanted {
		isAvailable, available = corev1.ConditionFalse, "MinimumReplicasUnavailable"
	}
	progress := "NewReplicaSetAvailable"
	if t.running < t.wanted {
		progress = "ReplicaSetUpdated"
	}
	return map[string]any{
		"observedGeneration":  deployment.Generation,
		"replicas":            t.running,
		"updatedReplicas":     t.running,
		"readyReplicas":       t.ready,
		"availableReplicas":   t.ready,
		"unavailableReplicas": max(t.wanted-t.ready, 0),
		"conditions": []appsv1.DeploymentCondition{
			condition(deployment, appsv1.DeploymentAvailable, isAvailable, available, fmt.Sprintf("%d of %d local processes are ready.", t.ready, t.wanted)),
			condition(deployment, appsv1.DeploymentProgressing, corev1.ConditionTrue, progress, fmt.Sprintf("%d of %d local processes run.", t.running, t.wanted)),
		},
	}
}

// condition keeps the transition time of a condition whose status stays.
func condition(
	deployment *appsv1.Deployment, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string,
) appsv1.DeploymentCondition {
	now := metav1.Now()
	c := appsv1.DeploymentCondition{
		Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now,
	}
	for _, old := range deployment.Status.Conditions {
		if old.Type == kind && old.Status == status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
	return c
}
