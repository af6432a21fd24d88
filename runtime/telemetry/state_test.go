/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"
)

func TestState_Readiness_IsExported(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want float64
	}{{nil, 1}, {errors.New("caches"), 0}, {nil, 1}} {
		missing = tc.err
		if got := measured(t, "process.ready", nil); got != tc.want {
			t.Errorf("with %v missing the metric is %v, want %v", tc.err, got, tc.want)
		}
	}
}

func TestState_InvalidConfigMap_IsExported(t *testing.T) {
	watcher := &configmap.ManualWatcher{Namespace: "ns"}
	check := func(cm *corev1.ConfigMap) error {
		if cm.Data["key"] == "bad" {
			return errors.New("bad")
		}
		return nil
	}
	WatchConfigMaps(watcher, []string{"config-a", "config-b"}, check)
	for _, tc := range []struct {
		value string
		want  float64
	}{{"good", 1}, {"bad", 0}, {"good", 1}} {
		cm := &corev1.ConfigMap{Data: map[string]string{"key": tc.value}}
		cm.Namespace, cm.Name = "ns", "config-a"
		watcher.OnChange(cm)
		if got := measured(t, "config.valid", attributes{"config_map": "config-a"}); got != tc.want {
			t.Errorf("with a %s value the metric is %v, want %v", tc.value, got, tc.want)
		}
	}
	if known(t, "config.valid", attributes{"config_map": "config-b"}) {
		t.Error("a metric is exported for a ConfigMap that was never seen")
	}
}
