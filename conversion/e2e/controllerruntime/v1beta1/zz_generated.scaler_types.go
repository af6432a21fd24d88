// Code generated from conversion/e2e/knative by hack/update-codegen.sh. DO NOT EDIT.

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Scaler adjusts a number of replicas.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Scaler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ScalerSpec `json:"spec"`
}

// ScalerSpec has one field of each metric that v1 has in a list.
type ScalerSpec struct {
	MinReplicas *int32 `json:"minReplicas,omitempty"`
	MaxReplicas int32  `json:"maxReplicas"`

	// CPUUtilization is the target of the metric cpu.
	//
	// +conversion:strategy=augment
	CPUUtilization *int32 `json:"cpuUtilization,omitempty"`

	// CooldownSeconds passes between two changes.
	//
	// +conversion:rename=Cooldown
	// +conversion:unit=seconds
	CooldownSeconds *int32 `json:"cooldownSeconds,omitempty"`

	// Note is not in v1.
	Note string `json:"note,omitempty"`
}
