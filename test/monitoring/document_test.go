/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// The pages of metrics and of alerts.
const (
	document   = "docs/reference/metrics.md"
	alertsPage = "docs/reference/alerts.md"
)

// documented is a row of a table of metrics.
type documented struct {
	kind, unit string
	labels     []string
}

// rows are the rows of the tables of the document whose first column is headed metric, by metric. A name that ends
// with * stands for all that begin so, which others define.
func rows(t *testing.T) map[string]documented {
	t.Helper()
	content, err := os.ReadFile(root + document)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]documented{}
	inTable := false
	for line := range strings.Lines(string(content)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case cells[0] == "metric":
			inTable = true
		case inTable && strings.HasPrefix(cells[0], "`"):
			if len(cells) != 5 {
				t.Fatalf("%s: a row of metrics has %d columns: %s", document, len(cells), line)
			}
			row := documented{kind: cells[1], unit: cells[2]}
			for label := range strings.SplitSeq(strings.ReplaceAll(cells[3], "`", ""), ",") {
				if label = strings.TrimSpace(label); label != "" {
					row.labels = append(row.labels, label)
				}
			}
			slices.Sort(row.labels)
			found[strings.Trim(cells[0], "`")] = row
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no table of metrics", document)
	}
	return found
}

// labelsOf returns the labels of a metric, except for those that name its library.
func labelsOf(family *dto.MetricFamily) []string {
	names := map[string]bool{}
	for _, metric := range family.GetMetric() {
		for _, label := range metric.GetLabel() {
			if !strings.HasPrefix(label.GetName(), "otel_scope_") {
				names[label.GetName()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func TestDocument_Metrics_AreThoseExported(t *testing.T) {
	env := harness.Shared(t)
	work(t, env)
	single.awaitMeasured(t, env)
	exported, table := single.everything(t, env), rows(t)
	maps.Copy(exported, ofObservers(t, env))

	for name, family := range exported {
		row, ok := table[name]
		if !ok {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(table)), func(pattern string) bool {
				prefix, isPattern := strings.CutSuffix(pattern, "*")
				return isPattern && strings.HasPrefix(name, prefix)
			}) {
				t.Errorf("%s lacks %s (%s, labels %q)", document, name, family.GetType(), labelsOf(family))
			}
			continue
		}
		if kind := strings.ToLower(family.GetType().String()); kind != row.kind {
			t.Errorf("%s says that %s is a %s, it is a %s", document, name, row.kind, kind)
		}
		if labels := labelsOf(family); !slices.Equal(labels, row.labels) {
			t.Errorf("%s says that %s has the labels %q, it has %q", document, name, row.labels, labels)
		}
		for _, unit := range []string{"seconds", "bytes"} {
			if strings.HasSuffix(strings.TrimSuffix(name, "_total"), "_"+unit) != (row.unit == unit) {
				t.Errorf("%s says that the unit of %s is %s", document, name, row.unit)
			}
		}
	}
	for name := range table {
		prefix, isPattern := strings.CutSuffix(name, "*")
		if !slices.ContainsFunc(slices.Collect(maps.Keys(exported)), func(family string) bool {
			return family == name || isPattern && strings.HasPrefix(family, prefix)
		}) {
			t.Errorf("%s names %s, which no process exports", document, name)
		}
	}
}

func TestDocument_Alerts_HaveARemedy(t *testing.T) {
	rules, err := os.ReadFile(root + "monitoring/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(root + alertsPage)
	if err != nil {
		t.Fatal(err)
	}
	var alerts, described []string
	rule := regexp.MustCompile(`(?s)- alert: (\w+)\n.*?for: (\w+)\n\s+labels: \{severity: (\w+)\}`)
	for _, match := range rule.FindAllStringSubmatch(string(rules), -1) {
		alerts = append(alerts, fmt.Sprintf("| `%s` | %s | %s |", match[1], match[3], match[2]))
	}
	described = regexp.MustCompile("(?m)^\\| `[A-Z]\\w+` \\| \\w+ \\| \\w+ \\|").FindAllString(string(text), -1)
	if diff := cmp.Diff(alerts, described); len(alerts) == 0 || diff != "" {
		t.Errorf("%s describes other alerts than monitoring/rules.yaml (-rules +page):\n%s", alertsPage, diff)
	}
}
