/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// ruleFile is the format of Prometheus, as far as it is used here.
type ruleFile struct {
	Groups []struct {
		Rules []rule `json:"rules"`
	} `json:"groups"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// alerts are the rules of rules.yaml, all of which are alerts.
func alerts(t *testing.T) []rule {
	t.Helper()
	var file ruleFile
	readYAML(t, "monitoring/rules.yaml", &file)
	var found []rule
	for _, group := range file.Groups {
		found = append(found, group.Rules...)
	}
	if len(found) == 0 {
		t.Fatal("rules.yaml has no rules")
	}
	return found
}

// Promtool does not notice an alert that has no test.
func TestRules_EachAlert_IsCompleteAndTested(t *testing.T) {
	var tests struct {
		Tests []struct {
			Name   string `json:"name"`
			Alerts []struct {
				Name     string `json:"alertname"`
				Expected []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	readYAML(t, "monitoring/rules_test.yaml", &tests)
	fired := map[string]int{}
	for _, test := range tests.Tests {
		for _, alert := range test.Alerts {
			if test.Name == alert.Name {
				fired[alert.Name] = len(alert.Expected)
			}
		}
	}
	for _, alert := range alerts(t) {
		if alert.Alert == "" || alert.For == "" || alert.Labels["severity"] == "" || alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" {
			t.Errorf("%+v lacks a name, a time for which its condition must hold, a severity, a summary or a description", alert)
		}
		if fired[alert.Alert] != 1 {
			t.Errorf("rules_test.yaml has no test named %s in which one of three installations fails", alert.Alert)
		}
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(root + path)
	if err == nil {
		err = yaml.Unmarshal(content, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}
