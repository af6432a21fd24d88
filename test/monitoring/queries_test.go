/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

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
var grafana = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$__interval", "1m", "$namespace", ".*", "$kind", ".*")

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

// ruleTest is the format of promtool test rules, as far as it is used here.
type ruleTest struct {
	Interval string      `json:"evaluation_interval"`
	Tests    []seriesSet `json:"tests"`
}

type seriesSet struct {
	Interval string      `json:"interval"`
	Series   []series    `json:"input_series"`
	Queries  []queryTest `json:"promql_expr_test"`
}

type series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

type queryTest struct {
	Expr     string   `json:"expr"`
	EvalTime string   `json:"eval_time"`
	Expected []sample `json:"exp_samples"`
}

type sample struct {
	Labels string `json:"labels"`
	Value  int    `json:"value"`
}

func TestQueries_Dashboard_ReturnDataAndNoAlertFires(t *testing.T) {
	env := harness.Shared(t)
	work(t, env)
	awaitMeasured(t, env)
	const rounds = 3
	values := map[string][]string{}
	for round := range rounds {
		for job, names := range processes {
			for _, instance := range names {
				labels := `job="` + job + `",instance="` + instance + `"`
				for line := range strings.Lines(string(env.Process(t, instance).Scrape(t)) + "up 1\n") {
					add(t, values, round, labels, line)
				}
			}
		}
		// A rate needs something to have changed between two scrapes.
		work(t, env)
	}
	one := seriesSet{Interval: "1m"}
	exported := map[string]bool{}
	for text, list := range values {
		one.Series = append(one.Series, series{text, strings.Join(list, " ")})
		metric, _, _ := strings.Cut(text, "{")
		exported[metric] = true
	}
	for _, query := range queries(t) {
		one.Queries = append(one.Queries, queryTest{"count(" + query + ") > bool 0", "2m", []sample{{"{}", 1}}})
	}
	for _, alert := range alerts(t) {
		one.Queries = append(one.Queries, queryTest{alert.Expr, "2m", []sample{}})
		// An alert also finds nothing if it misspells its metric.
		for metric := range metricsOf(alert.Expr) {
			if !exported[metric] {
				t.Errorf("%s: no process exports %s", alert.Alert, metric)
			}
		}
	}
	content, err := yaml.Marshal(ruleTest{"1m", []seriesSet{one}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "scraped.yaml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", file)
}

// add adds a line of a scrape to the values of its series, which has none in the rounds in which it was not scraped.
func add(t *testing.T, values map[string][]string, round int, labels, line string) {
	t.Helper()
	if strings.HasPrefix(line, "#") {
		return
	}
	// A value has no space, the value of a label may.
	end := strings.LastIndex(line, " ")
	metric, value := line[:end], strings.TrimSpace(line[end:])
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	base, own, _ := strings.Cut(strings.TrimSuffix(metric, "}"), "{")
	if own != "" {
		labels = own + "," + labels
	}
	text := base + "{" + labels + "}"
	for len(values[text]) < round {
		values[text] = append(values[text], "_")
	}
	values[text] = append(values[text], strconv.FormatFloat(number, 'f', -1, 64))
}
