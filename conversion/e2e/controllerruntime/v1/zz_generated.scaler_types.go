// Code generated from conversion/e2e/knative by hack/update-codegen.sh. DO NOT EDIT.

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scaler adjusts a number of replicas.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Scaler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ScalerSpec `json:"spec"`
}

// ScalerSpec has a list of metrics.
type ScalerSpec struct {
	MinReplicas *int32           `json:"minReplicas,omitempty"`
	MaxReplicas int32            `json:"maxReplicas"`
	Cooldown    *metav1.Duration `json:"cooldown,omitempty"`

	// Tolerance is the deviation that changes nothing. Zero differs from absent.
	Tolerance *resource.Quantity `json:"tolerance,omitempty"`

	// Metrics are read in this order.
	//
	// +listType=atomic
	// +conversion:older=augment
	Metrics []Metric `json:"metrics,omitempty"`
}

// Metric is a union: its type names the member that is set.
type Metric struct {
	Type     MetricType      `json:"type"`
	Resource *ResourceMetric `json:"resource,omitempty"`
	External *ExternalMetric `json:"external,omitempty"`
}

// MetricType is a member of Metric.
type MetricType string

// Types of metrics.
const (
	ResourceMetricType MetricType = "Resource"
	ExternalMetricType MetricType = "External"
)

// ResourceMetric is measured by the kubelet.
type ResourceMetric struct {
	Name   string `json:"name"`
	Target Target `json:"target"`
}

// ExternalMetric is measured by another system.
type ExternalMetric struct {
	Name     string                `json:"name"`
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	Target   Target                `json:"target"`
}

// Target is the desired value of a metric.
type Target struct {
	Value              *resource.Quantity `json:"value,omitempty"`
	AverageValue       *resource.Quantity `json:"averageValue,omitempty"`
	AverageUtilization *int32             `json:"averageUtilization,omitempty"`
}
