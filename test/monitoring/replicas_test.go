//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
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

// line is a line of a log, of which all processes write the same keys.
type line struct {
	Severity  string   `json:"severity"`
	Timestamp string   `json:"timestamp"`
	Message   string   `json:"message"`
	Key       string   `json:"knative.dev/key"`
	Causes    []string `json:"causes"`
}

// logged are the lines that a process has written after the first so many bytes; what is no JSON is left out.
func logged(t *testing.T, env *harness.Env, process string, from int) []line {
	t.Helper()
	var lines []line
	for text := range strings.Lines(env.Process(t, process).Log(t)[from:]) {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil {
			lines = append(lines, l)
		}
	}
	return lines
}

func TestLogs_LevelChanges_AreAppliedLive(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("controller", 2))
	// The leader reconciles; the webhook reconciles its own configuration when something changes.
	for _, process := range []string{"controller", "controller-1", "webhook"} {
		t.Run(process, func(t *testing.T) {
			pid, component := env.Process(t, process).PID(), strings.TrimSuffix(process, "-1")
			from := len(env.Process(t, process).Log(t))
			env.SetConfig(t, "config-logging", map[string]string{"loglevel." + component: "debug"})
			harness.Eventually(t, "a line of level debug", func(context.Context) error {
				work(t, env)
				for _, l := range logged(t, env, process, from) {
					if l.Severity == "DEBUG" {
						return nil
					}
				}
				return errors.New("there is no such line")
			})
			env.SetConfig(t, "config-logging", map[string]string{"loglevel." + component: "info"})
			harness.Eventually(t, "the change back", func(context.Context) error {
				for _, l := range logged(t, env, process, from) {
					if strings.Contains(l.Message, "from debug to info") {
						return nil
					}
				}
				return errors.New("not logged yet")
			})
			// The level is changed a moment after that line.
			work(t, env)
			from = len(env.Process(t, process).Log(t))
			work(t, env)
			for _, l := range logged(t, env, process, from) {
				if l.Severity == "DEBUG" {
					t.Errorf("after the change back there is a line of level debug: %+v", l)
				}
			}
			if now := env.Process(t, process).PID(); now != pid {
				t.Errorf("the process was restarted: %d became %d", pid, now)
			}
		})
	}
}
