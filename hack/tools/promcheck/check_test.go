/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// write writes files into a folder, which it returns.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	goodDashboard = `{"templating": {"list": [{"name": "kind", "type": "query"}]}, "panels": [
		{"title": "Row", "type": "row"},
		{"title": "Rate", "type": "timeseries", "targets": [{"expr": "rate(a_total{kind=~\"$kind\"}[$__rate_interval])"}]}]}`
	goodRules = "groups: [{name: g, rules: [{alert: A, expr: 'a_total > 100'}]}]"
	first     = "# TYPE a_total counter\na_total{kind=\"x\"} 1\n"
	second    = "# TYPE a_total counter\na_total{kind=\"x\"} 3\n"
)

func TestCheckSaysWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		dashboard, rules string
		scrapes          map[string]string
		want             string
	}{
		"all is well":           {goodDashboard, goodRules, nil, ""},
		"a panel finds nothing": {strings.Replace(goodDashboard, "$kind", "y", 1), goodRules, nil, "panel Rate: it finds nothing"},
		"a panel names a metric that nobody exports": {
			strings.Replace(goodDashboard, "a_total", "b_total", 1), goodRules, nil, "panel Rate: nobody exports b_total",
		},
		"a panel does not parse":   {strings.Replace(goodDashboard, "rate(", "rate(((", 1), goodRules, nil, "panel Rate: it does not parse"},
		"a panel without a query":  {`{"panels": [{"title": "P", "type": "stat"}]}`, goodRules, nil, `panel "P" has no query`},
		"a dashboard that is none": {`[]`, goodRules, nil, "reading dashboard"},
		"an alert finds something": {goodDashboard, strings.Replace(goodRules, "> 100", "> 1", 1), nil, "alert A: it finds trouble in 1 series"},
		"an alert names a metric that nobody exports": {
			goodDashboard, strings.Replace(goodRules, "a_total", "absent(b_total) or a_total", 1), nil, "alert A: nobody exports b_total",
		},
		"an alert does not parse":  {goodDashboard, strings.Replace(goodRules, "> 100", "> >", 1), nil, "reading rules"},
		"rules that record":        {goodDashboard, "groups: [{name: g, rules: [{record: r, expr: a_total}]}]", nil, "is no alert: r"},
		"no alerts":                {goodDashboard, "groups: []", nil, "have no alerts"},
		"no scrapes":               {goodDashboard, goodRules, map[string]string{"x.txt": ""}, "has no scrapes"},
		"a scrape by another name": {goodDashboard, goodRules, map[string]string{"job.prom": first}, "must be named JOB_INSTANCE_MILLISECONDS.prom"},
		"a scrape that is none":    {goodDashboard, goodRules, map[string]string{"job_a_1000.prom": "<html>"}, "reading scrape"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.scrapes == nil {
				tc.scrapes = map[string]string{"job_a_1760000000000.prom": first, "job_a_1760000060000.prom": second}
			}
			files := write(t, map[string]string{"dashboard.json": tc.dashboard, "rules.yaml": tc.rules})
			var out bytes.Buffer
			err := run(t.Context(), &out, filepath.Join(files, "dashboard.json"), filepath.Join(files, "rules.yaml"), write(t, tc.scrapes))
			if tc.want == "" && (err != nil || out.String() != "panel Rate: 1 series\nalert A: 0 series\n") {
				t.Errorf("got error %v and %q", err, out.String())
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got error %v, want one that says %q", err, tc.want)
			}
		})
	}
}

func TestEveryFlagMustBeSet(t *testing.T) {
	if err := run(t.Context(), &bytes.Buffer{}, "", "rules", "scrapes"); err == nil || !strings.Contains(err.Error(), "--dashboard") {
		t.Errorf("got error %v", err)
	}
}
