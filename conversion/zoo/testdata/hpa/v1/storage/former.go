/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"encoding/json"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"

	v2storage "example.com/hpa/v2/storage"
)

// The API server keeps what v1 cannot show in annotations: metrics in types of v1 that no field has.
const (
	formerMetrics        = "autoscaling.alpha.kubernetes.io/metrics"
	formerCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics"
	formerBehavior       = "autoscaling.alpha.kubernetes.io/behavior"
	formerConditions     = "autoscaling.alpha.kubernetes.io/conditions"
)

// readFormer reads an annotation, and reports whether the object has it.
func readFormer[T any](object *metav1.ObjectMeta, name string, to *T) bool {
	var former T
	if json.Unmarshal([]byte(object.Annotations[name]), &former) != nil {
		return false
	}
	*to = former
	return true
}

// readMetrics reads an annotation whose metrics have other types in v2.
func readMetrics[Older, Newer, Stored any](object *metav1.ObjectMeta, name string, newer func(Older) Newer, to *[]Stored) (bool, error) {
	var old []Older
	if !readFormer(object, name, &old) {
		return false, nil
	}
	all := make([]Newer, len(old))
	for i := range old {
		all[i] = newer(old[i])
	}
	text, err := json.Marshal(all)
	if err != nil {
		return false, err
	}
	*to = nil
	return true, json.Unmarshal(text, to)
}

func newerMetric(old autoscalingv1.MetricSpec) autoscalingv2.MetricSpec {
	metric := autoscalingv2.MetricSpec{Type: autoscalingv2.MetricSourceType(old.Type)}
	if o := old.Object; o != nil {
		target := autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: &o.TargetValue, AverageValue: o.AverageValue}
		if o.AverageValue != nil {
			target.Type = autoscalingv2.AverageValueMetricType
		}
		metric.Object = &autoscalingv2.ObjectMetricSource{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(o.Target), Target: target, Metric: identifier(o.MetricName, o.Selector),
		}
	}
	if p := old.Pods; p != nil {
		metric.Pods = &autoscalingv2.PodsMetricSource{
			Metric: identifier(p.MetricName, p.Selector),
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &p.TargetAverageValue},
		}
	}
	resourceTarget := func(utilization *int32, target autoscalingv2.MetricTarget) autoscalingv2.MetricTarget {
		target.Type, target.AverageUtilization = autoscalingv2.AverageValueMetricType, utilization
		if utilization != nil {
			target.Type = autoscalingv2.UtilizationMetricType
		}
		return target
	}
	if r := old.Resource; r != nil {
		metric.Resource = &autoscalingv2.ResourceMetricSource{
			Name: r.Name, Target: resourceTarget(r.TargetAverageUtilization, autoscalingv2.MetricTarget{AverageValue: r.TargetAverageValue}),
		}
	}
	if r := old.ContainerResource; r != nil {
		metric.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{
			Name: r.Name, Container: r.Container,
			Target: resourceTarget(r.TargetAverageUtilization, autoscalingv2.MetricTarget{AverageValue: r.TargetAverageValue}),
		}
	}
	if e := old.External; e != nil {
		target := autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, Value: e.TargetValue, AverageValue: e.TargetAverageValue}
		if e.TargetValue != nil {
			target.Type = autoscalingv2.ValueMetricType
		}
		metric.External = &autoscalingv2.ExternalMetricSource{Metric: identifier(e.MetricName, e.MetricSelector), Target: target}
	}
	return metric
}

func newerStatus(old autoscalingv1.MetricStatus) autoscalingv2.MetricStatus {
	status := autoscalingv2.MetricStatus{Type: autoscalingv2.MetricSourceType(old.Type)}
	if o := old.Object; o != nil {
		status.Object = &autoscalingv2.ObjectMetricStatus{
			DescribedObject: autoscalingv2.CrossVersionObjectReference(o.Target), Metric: identifier(o.MetricName, o.Selector),
			Current: autoscalingv2.MetricValueStatus{Value: &o.CurrentValue, AverageValue: o.AverageValue},
		}
	}
	if p := old.Pods; p != nil {
		status.Pods = &autoscalingv2.PodsMetricStatus{
			Metric: identifier(p.MetricName, p.Selector), Current: autoscalingv2.MetricValueStatus{AverageValue: &p.CurrentAverageValue},
		}
	}
	if r := old.Resource; r != nil {
		status.Resource = &autoscalingv2.ResourceMetricStatus{Name: r.Name, Current: autoscalingv2.MetricValueStatus{
			AverageValue: &r.CurrentAverageValue, AverageUtilization: r.CurrentAverageUtilization,
		}}
	}
	if r := old.ContainerResource; r != nil {
		status.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{Name: r.Name, Container: r.Container, Current: autoscalingv2.MetricValueStatus{
			AverageValue: &r.CurrentAverageValue, AverageUtilization: r.CurrentAverageUtilization,
		}}
	}
	if e := old.External; e != nil {
		status.External = &autoscalingv2.ExternalMetricStatus{
			Metric:  identifier(e.MetricName, e.MetricSelector),
			Current: autoscalingv2.MetricValueStatus{Value: &e.CurrentValue, AverageValue: e.CurrentAverageValue},
		}
	}
	return status
}

func identifier(name string, selector *metav1.LabelSelector) autoscalingv2.MetricIdentifier {
	return autoscalingv2.MetricIdentifier{Name: name, Selector: selector}
}

// behavior is that of v2 without names in JSON, which the API server writes into the annotation.
func behavior(object *metav1.ObjectMeta, to **v2storage.HorizontalPodAutoscalerBehavior) {
	var former v2storage.HorizontalPodAutoscalerBehavior
	if readFormer(object, formerBehavior, &former) && !conversion.IsZero(&former) {
		*to = &former
	}
}
