/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mallard-dev/mallard/conversion"
)

func init() { metrics.Registry.MustRegister(collector{}) }

// collector exports the counters of package conversion under the names that OpenTelemetry's exporter for Prometheus gives them.
type collector struct{}

// Describe implements prometheus.Collector.
func (c collector) Describe(descriptions chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(c, descriptions)
}

// Collect implements prometheus.Collector.
func (collector) Collect(collected chan<- prometheus.Metric) {
	for _, counter := range conversion.Counters() {
		name := strings.ReplaceAll(counter.Name, ".", "_") + "_total"
		for part, count := range counter.Counts() {
			var label, value []string
			if part != "" {
				label, value = []string{conversion.PartLabel}, []string{part}
			}
			description := prometheus.NewDesc(name, counter.Description, label, nil)
			collected <- prometheus.MustNewConstMetric(description, prometheus.CounterValue, float64(count), value...)
		}
	}
}
