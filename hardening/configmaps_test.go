/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/logging"
)

func TestConfigMaps_OneKeyIsInvalid_IsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		parse func(*corev1.ConfigMap) error
		data  map[string]string
		want  string
	}{
		"Level":    {onlyError(logging.NewConfigFromConfigMap), map[string]string{"loglevel.controller": "chatty", "loglevel.webhook": "info"}, `loglevel.controller: "chatty": `},
		"Buckets":  {parseLeaderElection, map[string]string{"buckets": "11", "lease-duration": "90s"}, `buckets: "11": `},
		"Together": {parseLeaderElection, map[string]string{"renew-deadline": "1h"}, `renew-deadline: "1h": lease-duration must be longer`},
		"Two":      {parseLeaderElection, map[string]string{"buckets": "11", "retry-period": "soon"}, `failed to parse "retry-period"`},
		"Jitter":   {parseLeaderElection, map[string]string{"renew-deadline": "12s", "retry-period": "10s", "lease-duration": "15s"}, `lease-duration must be`},
		"Valid":    {parseLeaderElection, map[string]string{"renew-deadline": "13s", "retry-period": "10s", "lease-duration": "15s"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cm := &corev1.ConfigMap{Data: tc.data}
			cm.Namespace, cm.Name = "ns", "config-it"
			switch err := explain(cm, tc.parse); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "ConfigMap ns/config-it: ") || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
