/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/randfill"

	v2 "example.com/hpa/v2"
)

// Random names would hardly ever be that of the resource for which v1 has a field.
func init() {
	conversionFunctions = append(conversionFunctions,
		func(metric *v2.MetricSpec, c randfill.Continue) {
			c.FillNoCustom(metric)
			if metric.Resource != nil && c.Bool() {
				metric.Type, metric.Resource.Name = v2.ResourceMetricSourceType, corev1.ResourceCPU
			}
		},
		func(metric *v2.MetricStatus, c randfill.Continue) {
			c.FillNoCustom(metric)
			if metric.Resource != nil && c.Bool() {
				metric.Type, metric.Resource.Name = v2.ResourceMetricSourceType, corev1.ResourceCPU
			}
		},
	)
}
