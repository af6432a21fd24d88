/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllerruntime_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mallard-dev/mallard/conversion"
	_ "github.com/mallard-dev/mallard/conversion/controllerruntime"
)

func TestMetrics_AllCountersAreInTheRegistry(t *testing.T) {
	var object metav1.ObjectMeta
	properties.Load(&object, &metav1.ObjectMeta{Annotations: map[string]string{annotation: "{"}})
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]int64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "conversion_") {
			continue
		}
		got[family.GetName()] = map[string]int64{}
		for _, metric := range family.GetMetric() {
			part := ""
			for _, label := range metric.GetLabel() {
				part = label.GetValue()
			}
			got[family.GetName()][part] = int64(metric.GetCounter().GetValue())
		}
	}
	want := map[string]map[string]int64{}
	for _, counter := range conversion.Counters() {
		want["conversion_"+strings.ReplaceAll(strings.TrimPrefix(counter.Name, "conversion."), ".", "_")+"_total"] = counter.Counts()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if got["conversion_bag_dropped_total"]["annotation"] == 0 {
		t.Error("the malformed annotation is not counted")
	}
}
