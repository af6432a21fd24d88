// Code generated from conversion/e2e/knative by hack/update-codegen.sh. DO NOT EDIT.

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/conversion"
	v1storage "github.com/mallard-dev/mallard/conversion/e2e/controllerruntime/v1/storage"
)

// AssignPropertiesTo restores the metrics, and makes the percentage the target of the metric cpu.
func (in *TaskSpec) AssignPropertiesTo(dst *v1storage.TaskSpec) error {
	dst.PropertyBag.Take(bagV1Metrics, &dst.Metrics)
	dst.Metrics = withCPU(dst.Metrics, in.CPUUtilization)
	return nil
}

// AssignPropertiesFrom shows the target of the metric cpu, and keeps all metrics if there is more to them.
func (in *TaskSpec) AssignPropertiesFrom(src *v1storage.TaskSpec) error {
	in.CPUUtilization = nil
	if at := slices.IndexFunc(src.Metrics, isCPU); at >= 0 {
		in.CPUUtilization = new(*src.Metrics[at].Resource.Target.AverageUtilization)
	}
	if complete, err := conversion.Equal(withCPU(nil, in.CPUUtilization), src.Metrics); complete || err != nil {
		return err
	}
	return in.PropertyBag.Put(bagV1Metrics, src.Metrics)
}

// isCPU reports whether v1beta1 has a field for the metric.
func isCPU(metric autoscalingv2.MetricSpec) bool {
	source := metric.Resource
	return metric.Type == autoscalingv2.ResourceMetricSourceType &&
		source != nil && source.Name == corev1.ResourceCPU && source.Target.AverageUtilization != nil
}

// withCPU changes, adds or removes the metric cpu.
func withCPU(metrics []autoscalingv2.MetricSpec, percentage *int32) []autoscalingv2.MetricSpec {
	at := slices.IndexFunc(metrics, isCPU)
	switch {
	case at >= 0 && percentage == nil:
		return slices.Delete(metrics, at, at+1)
	case at >= 0:
		metrics[at].Resource.Target.AverageUtilization = new(*percentage)
	case percentage != nil:
		target := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(*percentage)}
		source := &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU, Target: target}
		return append(metrics, autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: source})
	}
	return metrics
}
