/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/mallard-dev/mallard/conversion/e2e/knative/v1"
)

// Task runs steps in a number of replicas.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Task struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TaskSpec `json:"spec"`
}

// TaskSpec has lists that are atomic in the CRD.
type TaskSpec struct {
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	MaxReplicas int32  `json:"maxReplicas"`
	// CPUUtilization is the target of the metric cpu. v1 has all metrics in a list.
	//
	// +conversion:strategy=augment
	CPUUtilization *int32 `json:"cpuUtilization,omitempty"`
	// CooldownSeconds passes between two changes of the number of replicas.
	//
	// +conversion:rename=Cooldown
	// +conversion:unit=seconds
	CooldownSeconds *int32 `json:"cooldownSeconds,omitempty"`
	// Note is not in v1.
	Note string `json:"note,omitempty"`
	// Params are the same in v1.
	//
	// +listType=atomic
	// +conversion:key=name
	Params []v1.Param `json:"params,omitempty"`

	// Steps run one after the other.
	//
	// +listType=atomic
	// +conversion:key=name
	Steps []Step `json:"steps,omitempty"`

	// WhenExpressions have the same name in the JSON of v1.
	//
	// +listType=atomic
	// +conversion:rename=When
	// +conversion:positional
	WhenExpressions []WhenExpression `json:"when,omitempty"`

	// Timeout is that of the whole task.
	//
	// +conversion:rename=Timeouts.Task
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// Bundle is not in v1.
	Bundle string `json:"bundle,omitempty"`
}

// Step lacks a field.
type Step struct {
	Name  string `json:"name"`
	Image string `json:"image,omitempty"`

	// Resources have another name in v1.
	//
	// +conversion:rename=ComputeResources
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}

// WhenExpression lacks a field.
type WhenExpression struct {
	Input    string   `json:"input,omitempty"`
	Operator string   `json:"operator,omitempty"`
	Values   []string `json:"values,omitempty"`
}
