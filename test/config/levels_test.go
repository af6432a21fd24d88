/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/webhook"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestConfig_LogLevelChanges_IsAppliedLive(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	registration := harness.Ref{
		Resource: admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"), Name: webhook.ValidationName,
	}
	for _, name := range []string{"controller", "webhook"} {
		t.Run(name, func(t *testing.T) {
			process, objects := env.Process(t, name), 0
			from, pid := len(process.Log(t)), process.PID()
			env.SetConfig(t, "config-logging", map[string]string{"loglevel." + name: "debug"})
			harness.Eventually(t, "a line of level debug", func(context.Context) error {
				// The controller reconciles a new object, and the webhook its registration.
				objects++
				env.Apply(t, ns, object(fmt.Sprintf("%s-%d", name, objects), "", ""))
				env.Patch(t, registration, fmt.Sprintf(`{"metadata": {"annotations": {"example.com/changes": "%s-%d"}}}`, name, objects))
				if !strings.Contains(severities(process.Log(t)[from:]), "DEBUG") {
					return errors.New("there is no such line")
				}
				return nil
			})
			if now := process.PID(); now != pid {
				t.Errorf("the process was restarted: %d became %d", pid, now)
			}
		})
	}
}

// severities are those of the lines of a log.
func severities(log string) string {
	var all []string
	for text := range strings.Lines(log) {
		var line struct {
			Severity string `json:"severity"`
		}
		if json.Unmarshal([]byte(text), &line) == nil {
			all = append(all, line.Severity)
		}
	}
	return strings.Join(all, " ")
}
