/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"

	v2storage "example.com/hpa/v2/storage"
)

// AssignPropertiesTo makes the percentage the target of the metric for CPU, and restores the other metrics, also from annotations of the API server.
func (in *HorizontalPodAutoscalerSpec) AssignPropertiesTo(dst *v2storage.HorizontalPodAutoscalerSpec, object *metav1.ObjectMeta) error {
	dst.PropertyBag.Take(bagV2Metrics, &dst.Metrics)
	if _, err := readMetrics(object, formerMetrics, newerMetric, &dst.Metrics); err != nil {
		return err
	}
	behavior(object, &dst.Behavior)
	dst.Metrics = withTarget(dst.Metrics, in.TargetCPUUtilizationPercentage)
	return nil
}

// AssignPropertiesFrom shows the target of the metric for CPU, and keeps all metrics if there is more to them.
func (in *HorizontalPodAutoscalerSpec) AssignPropertiesFrom(src *v2storage.HorizontalPodAutoscalerSpec, _ *metav1.ObjectMeta) error {
	in.TargetCPUUtilizationPercentage = nil
	if at := target(src.Metrics); at >= 0 {
		in.TargetCPUUtilizationPercentage = new(*src.Metrics[at].Resource.Target.AverageUtilization)
	}
	if complete, err := conversion.Equal(withTarget(nil, in.TargetCPUUtilizationPercentage), src.Metrics); complete || err != nil {
		return err
	}
	return in.PropertyBag.Put(bagV2Metrics, src.Metrics)
}

// target is the place of the first metric that v1 can show, or negative.
func target(metrics []v2storage.MetricSpec) int { return slices.IndexFunc(metrics, isTarget) }

func isTarget(metric v2storage.MetricSpec) bool {
	return is(metric.Type, "Resource") && metric.Resource != nil && is(metric.Resource.Name, corev1.ResourceCPU) &&
		metric.Resource.Target != nil && metric.Resource.Target.AverageUtilization != nil
}

// withTarget changes or adds the metric that v1 shows. Without a percentage it removes each metric that v1 could show.
func withTarget(metrics []v2storage.MetricSpec, percentage *int32) []v2storage.MetricSpec {
	at := target(metrics)
	switch {
	case at >= 0 && percentage == nil:
		return slices.DeleteFunc(metrics, isTarget)
	case at >= 0:
		metrics[at].Resource.Target.AverageUtilization = new(*percentage)
	case percentage != nil:
		return append(metrics, v2storage.MetricSpec{Type: new("Resource"), Resource: &v2storage.ResourceMetricSource{
			Name: new(corev1.ResourceCPU), Target: &v2storage.MetricTarget{Type: new("Utilization"), AverageUtilization: new(*percentage)},
		}})
	}
	return metrics
}

// AssignPropertiesTo does for the status what it does for the spec. Annotations of the API server have all metrics.
func (in *HorizontalPodAutoscalerStatus) AssignPropertiesTo(dst *v2storage.HorizontalPodAutoscalerStatus, object *metav1.ObjectMeta) error {
	readFormer(object, formerConditions, &dst.Conditions)
	dst.PropertyBag.Take(bagV2CurrentMetrics, &dst.CurrentMetrics)
	if former, err := readMetrics(object, formerCurrentMetrics, newerStatus, &dst.CurrentMetrics); former || err != nil {
		return err
	}
	dst.CurrentMetrics = withCurrent(dst.CurrentMetrics, in.CurrentCPUUtilizationPercentage)
	return nil
}

// AssignPropertiesFrom does for the status what it does for the spec.
func (in *HorizontalPodAutoscalerStatus) AssignPropertiesFrom(src *v2storage.HorizontalPodAutoscalerStatus, _ *metav1.ObjectMeta) error {
	in.CurrentCPUUtilizationPercentage = nil
	if at := current(src.CurrentMetrics); at >= 0 {
		in.CurrentCPUUtilizationPercentage = new(*src.CurrentMetrics[at].Resource.Current.AverageUtilization)
	}
	if complete, err := conversion.Equal(withCurrent(nil, in.CurrentCPUUtilizationPercentage), src.CurrentMetrics); complete || err != nil {
		return err
	}
	return in.PropertyBag.Put(bagV2CurrentMetrics, src.CurrentMetrics)
}

func current(metrics []v2storage.MetricStatus) int { return slices.IndexFunc(metrics, isCurrent) }

func isCurrent(metric v2storage.MetricStatus) bool {
	return is(metric.Type, "Resource") && metric.Resource != nil && is(metric.Resource.Name, corev1.ResourceCPU) &&
		metric.Resource.Current != nil && metric.Resource.Current.AverageUtilization != nil
}

func withCurrent(metrics []v2storage.MetricStatus, percentage *int32) []v2storage.MetricStatus {
	at := current(metrics)
	switch {
	case at >= 0 && percentage == nil:
		return slices.DeleteFunc(metrics, isCurrent)
	case at >= 0:
		metrics[at].Resource.Current.AverageUtilization = new(*percentage)
	case percentage != nil:
		return append(metrics, v2storage.MetricStatus{Type: new("Resource"), Resource: &v2storage.ResourceMetricStatus{
			Name: new(corev1.ResourceCPU), Current: &v2storage.MetricValueStatus{AverageUtilization: new(*percentage)},
		}})
	}
	return metrics
}

func is[T comparable](value *T, wanted T) bool { return value != nil && *value == wanted }
