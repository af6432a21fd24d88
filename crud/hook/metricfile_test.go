/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseMetrics_AllFields_AreThoseOfShellOperator(t *testing.T) {
	got, err := parseMetrics([]byte(`
{"name":"added","action":"add","value":1,"labels":{"a":"b"}}
{"name":"short","add":2} {"name":"also","set":-3}
{
  "name": "observed", "action": "observe", "value": 42, "buckets": [1, 2.5, 50]
}
{"group":"g","name":"grouped","action":"set","value":0}
{"group":"g","action":"expire"}
`), "")
	want := []metricLine{
		{number: 2, Name: "added", Action: actionAdd, Value: new(1.0), Labels: map[string]string{"a": "b"}},
		{number: 3, Name: "short", Action: actionAdd, Value: new(2.0)},
		{number: 3, Name: "also", Action: actionSet, Value: new(-3.0)},
		{number: 4, Name: "observed", Action: actionObserve, Value: new(42.0), Buckets: []float64{1, 2.5, 50}},
		{number: 7, Name: "grouped", Action: actionSet, Value: new(0.0), Group: "g"},
		{number: 8, Action: actionExpire, Group: "g"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(metricLine{}), cmpopts.IgnoreFields(metricLine{}, "Add", "Set")); err != nil || diff != "" {
		t.Errorf("the lines (-want +got):\n%s%v", diff, err)
	}
}

func TestParseMetrics_Mistakes_HaveTheVariableAndTheLine(t *testing.T) {
	for line, want := range map[string]string{
		`{"name":"a","set":1`:                    `it is not JSON: unexpected EOF`,
		`{"name":"a","set":1}}`:                  `it is not JSON: invalid character '}'`,
		`["a"]`:                                  `cannot unmarshal array`,
		`null`:                                   `action: it must be add, set, observe or expire, not ""`,
		`{"name":"a"}`:                           `action: it must be add, set, observe or expire, not ""`,
		`{"name":"a","action":"sett","value":1}`: `action: it must be add, set, observe or expire, not "sett"`,
		`{"name":"a","action":"set"}`:            `value: it is missing`,

		`{"name":"a","action":"set","value":"1"}`:                                `cannot unmarshal string into Go struct field metricLine.value of type float64`,
		`{"name":"a","set":1,"labels":{"b":1}}`:                                  `cannot unmarshal number into Go struct field metricLine.labels of type string`,
		`{"name":"a","set":1,"add":1}`:                                           `it is short for action and value: use either`,
		`{"name":"a","set":1,"Labels":{}}`:                                       `unknown field "Labels"`,
		`{"name":"a","set":1,"name":"b"}`:                                        `duplicate field "name"`,
		`{"set":1}`:                                                              `name: it is missing`,
		`{"name":"a-b","set":1}`:                                                 `name: "a-b" must consist of up to 200 letters, digits and underscores`,
		`{"name":"total","add":1}`:                                               `name: "total" must consist of`,
		`{"name":"` + strings.Repeat("a", 201) + `","set":1}`:                    `must consist of up to 200 letters`,
		`{"name":"hook_runs_total","add":1}`:                                     `name: hook_runs_total is reserved for metrics of the process: use another name`,
		`{"name":"a","add":-1}`:                                                  `value: a counter does not decrease: use set for a gauge`,
		`{"name":"a","set":1,"buckets":[1]}`:                                     `buckets: they do not belong to set, but to observe`,
		`{"name":"a","action":"observe","value":1}`:                              `buckets: they must be up to 100 numbers that increase`,
		`{"name":"a","action":"observe","value":1,"buckets":[2,1]}`:              `buckets: they must be up to 100 numbers that increase`,
		`{"name":"a","action":"observe","value":1,"buckets":[1],"group":"g"}`:    `group: a histogram cannot expire: leave out group`,
		`{"action":"expire"}`:                                                    `group: it is missing: expire removes the metrics of a group`,
		`{"action":"expire","group":"g","name":"a"}`:                             `action: expire removes all metrics of the group: leave out the fields other than group`,
		`{"name":"a","set":1,"labels":{"hook":"b"}}`:                             `labels.hook: the label is set by the process or by Prometheus: use another name`,
		`{"name":"a","set":1,"labels":{"le":"b"}}`:                               `labels.le: the label is set by the process`,
		`{"name":"a","set":1,"labels":{"otel_scope_name":"b"}}`:                  `labels.otel_scope_name: the label is set by the process`,
		`{"name":"a","set":1,"labels":{"a.b":"b"}}`:                              `labels.a.b: the name must consist of up to 100 letters`,
		`{"name":"a","set":1,"labels":{"b":"` + strings.Repeat("x", 257) + `"}}`: `labels.b: the value has 257 bytes: use up to 256`,
		`{"name":"a","set":1,"labels":{` + manyLabels() + `}}`:                   `labels: there are 17: use up to 16`,
	} {
		_, err := parseMetrics([]byte("{\"name\":\"valid\",\"set\":1}\n\n"+line), "")
		if err == nil || !strings.Contains(err.Error(), "METRICS_PATH:3: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%.200s: the error is %v, want METRICS_PATH:3: … %s", line, err, want)
		}
	}
}

func manyLabels() string {
	var labels []string
	for i := range 17 {
		labels = append(labels, fmt.Sprintf(`"l%d":"v"`, i))
	}
	return strings.Join(labels, ",")
}

func TestRead_FileIsTooLarge_IsAnError(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(files[metricsVariable], []byte(strings.Repeat(" ", mostOfMetrics+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = read(root, metricsVariable, "metrics", mostOfMetrics, "metrics", func(content []byte) ([]metricLine, error) { return parseMetrics(content, "") })
	rejected, ok := errors.AsType[*rejection](err)
	if !ok || rejected.reason != "metrics" || err.Error() != "reading its metrics: METRICS_PATH: it has more than 1048576 bytes" {
		t.Errorf("the error is %v", err)
	}
}

// A hook cannot disturb the metrics of the process: all that the documentation lists are reserved.
func TestParseMetrics_NamesOfTheProcess_AreReserved(t *testing.T) {
	if _, err := os.Stat("../../docs/README.md"); err != nil {
		return // a fork may have generated documents only
	}
	page, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	inTable, n := false, 0
	for line := range strings.Lines(string(page)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| `"), "`")
		switch {
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case strings.HasPrefix(line, "| metric "):
			inTable = true
		case inTable && strings.HasPrefix(line, "| `"):
			n++
			name = strings.Replace(name, "*", "x", 1)
			for _, name := range []string{name, name + "_count", strings.TrimSuffix(name, "_total")} {
				if err := checkMetricName(name, ""); err == nil || !strings.Contains(err.Error(), "is reserved") {
					t.Errorf("the name %s is not reserved: %v", name, err)
				}
			}
		}
	}
	if n < 35 {
		t.Errorf("there are %d metrics in the tables", n)
	}
	for _, name := range []string{"upgrades", "hook_metric", "hook_metrics_items", "objects", "kind"} {
		if err := checkMetricName(name, ""); err != nil {
			t.Error(err)
		}
	}
}

func TestParseMetrics_PrefixOfTheProcess_ReservesItsNamesWithThePrefix(t *testing.T) {
	for name, reserved := range map[string]bool{
		"shop_hook_runs": true, "shop__hook_runs_total": true, "hook_runs": true, "shop_orders": false, "hook_orders": false, "shop": false,
	} {
		if err := checkMetricName(name, "shop_"); (err != nil) != reserved {
			t.Errorf("%s: %v", name, err)
		}
	}
}
