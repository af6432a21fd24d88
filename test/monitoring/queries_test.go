/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// panel is a part of a dashboard in Grafana's format.
type panel struct {
	Title   string  `json:"title"`
	Type    string  `json:"type"`
	Panels  []panel `json:"panels"`
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

// grafana puts what Grafana puts for its variables when everything is selected.
var grafana = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$__interval", "1m", "$namespace", ".*", "$queue", ".*")

// queries are those of the dashboard's panels.
func queries(t *testing.T) []string {
	t.Helper()
	var dashboard panel
	readYAML(t, "monitoring/dashboard.json", &dashboard)
	var found []string
	var visit func([]panel)
	visit = func(panels []panel) {
		for _, p := range panels {
			visit(p.Panels)
			if p.Type != "row" && p.Type != "text" && len(p.Targets) == 0 {
				t.Errorf("panel %q has no query", p.Title)
			}
			for _, target := range p.Targets {
				found = append(found, grafana.Replace(target.Expr))
			}
		}
	}
	visit(dashboard.Panels)
	if len(found) == 0 {
		t.Fatal("the dashboard has no queries")
	}
	return found
}

var (
	literal = regexp.MustCompile(`"[^"]*"`)
	// noSelector matches parts of a query that may contain names other than those of metrics: ranges, and lists of labels.
	noSelector = regexp.MustCompile(`\[[^\]]*\]|\b(by|without|on|ignoring|group_left|group_right) *\([^)]*\)`)
	// name is that of a metric, with what selects series of it, of a function or of an operator.
	name = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*) *(\{[^}]*\}|\()?`)
)

// metricsOf are the metrics that an expression names, with what selects their series.
func metricsOf(expr string) map[string]string {
	found := map[string]string{}
	for _, match := range name.FindAllStringSubmatch(noSelector.ReplaceAllString(literal.ReplaceAllString(expr, ""), ""), -1) {
		if match[2] != "(" && !slices.Contains([]string{"and", "or", "unless", "bool", "sum", "group"}, match[1]) {
			found[match[1]] = match[2]
		}
	}
	return found
}

// Installations that share a Prometheus are kept apart.
func TestDashboard_EveryQuery_SelectsTheNamespace(t *testing.T) {
	for _, query := range queries(t) {
		for metric, selector := range metricsOf(query) {
			if !strings.Contains(selector, "namespace=~") {
				t.Errorf("%s does not select the namespace of %s", query, metric)
			}
		}
	}
}

// An alert or a panel finds nothing if it misspells a metric. TestQueries_Dashboard_ReturnDataAndNoAlertFires evaluates them.
func TestQueries_Metrics_AreExported(t *testing.T) {
	env := harness.Shared(t)
	work(t, env)
	single.awaitMeasured(t, env)
	exported := single.everything(t, env)
	expressions := queries(t)
	for _, alert := range alerts(t) {
		expressions = append(expressions, alert.Expr)
	}
	for _, expression := range expressions {
		for metric := range metricsOf(expression) {
			histogram := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(metric, "_bucket"), "_count"), "_sum")
			// Prometheus itself adds the first one to what it scrapes.
			if metric != "up" && exported[metric] == nil && exported[histogram] == nil {
				t.Errorf("%s: no process exports %s", expression, metric)
			}
		}
	}
}
