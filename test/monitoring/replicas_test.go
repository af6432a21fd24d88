//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"maps"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/crds"
)

// two is an environment in which the controller has a second replica.
var two = installation{"controller": {"controller", "controller-1"}, "hooks": {"hooks"}, "webhook": {"webhook"}}

func TestMetrics_Leader_IsOneProcessPerReconciler(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("controller", 2))
	work(t, env)
	leaders := map[string]float64{}
	for _, metric := range two.everything(t, env)["leader_held"].GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "kind" {
				leaders[label.GetValue()] += metric.GetGauge().GetValue()
			}
		}
	}
	want := map[string]float64{
		"Certificates": 1, "DefaultingWebhook": 1, "ValidationWebhook": 1, "ConfigMapWebhook": 1, "ConversionWebhook": 1, "Bindings": 1, "Hooks": 1,
	}
	for _, crd := range crds.All(t) {
		want[crd.Spec.Names.Kind] = 1
	}
	if !maps.Equal(leaders, want) {
		t.Errorf("the leaders are %v, want %v", leaders, want)
	}
}
