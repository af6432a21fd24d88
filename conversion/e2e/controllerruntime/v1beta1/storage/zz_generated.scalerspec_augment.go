// Code generated from conversion/e2e/knative by hack/update-codegen.sh. DO NOT EDIT.

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion"
	v1storage "github.com/mallard-dev/mallard/conversion/e2e/controllerruntime/v1/storage"
)

// AssignPropertiesTo restores the metrics, and makes the percentage the target of the metric cpu.
func (in *ScalerSpec) AssignPropertiesTo(dst *v1storage.ScalerSpec) error {
	dst.PropertyBag.Take(bagV1Metrics, &dst.Metrics)
	dst.Metrics = withCPU(dst.Metrics, in.CPUUtilization)
	return nil
}

// AssignPropertiesFrom shows the target of the metric cpu, and keeps all metrics if there is more to them.
func (in *ScalerSpec) AssignPropertiesFrom(src *v1storage.ScalerSpec) error {
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
func isCPU(metric v1storage.Metric) bool {
	source := metric.Resource
	return metric.Type != nil && *metric.Type == "Resource" &&
		source != nil && source.Name != nil && *source.Name == "cpu" && source.Target != nil && source.Target.AverageUtilization != nil
}

// withCPU changes, adds or removes the metric cpu.
func withCPU(metrics []v1storage.Metric, percentage *int32) []v1storage.Metric {
	at := slices.IndexFunc(metrics, isCPU)
	switch {
	case at >= 0 && percentage == nil:
		return slices.Delete(metrics, at, at+1)
	case at >= 0:
		metrics[at].Resource.Target.AverageUtilization = new(*percentage)
	case percentage != nil:
		return append(metrics, v1storage.Metric{
			Type: new("Resource"), Resource: &v1storage.ResourceMetric{Name: new("cpu"), Target: &v1storage.Target{AverageUtilization: new(*percentage)}},
		})
	}
	return metrics
}
