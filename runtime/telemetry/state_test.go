/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"errors"
	"testing"
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
	for _, isValid := range []bool{true, false, true} {
		ConfigMapIsValid("config-a", isValid)
		if got := measured(t, "config.valid", attributes{"config_map": "config-a"}); got != float64(number(isValid)) {
			t.Errorf("with a ConfigMap that is valid (%v) the metric is %v", isValid, got)
		}
	}
}
