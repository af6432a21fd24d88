//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// build builds the promtool that is pinned, once, without the clients of clouds in which Prometheus can discover targets: they
// take minutes to compile.
var build = sync.OnceValues(func() ([]byte, error) {
	command := exec.Command("go", "build", "-modfile=hack/tools/go.mod", "-tags=remove_all_sd", "-o", program, "github.com/prometheus/prometheus/cmd/promtool")
	command.Dir = root
	return command.CombinedOutput()
})

// program is the path of promtool, from the root.
const program = ".cache/promtool"

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := build(); err != nil {
		t.Fatalf("building promtool: %v\n%s", err, out)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestRules_EachAlert_FiresAsItsTestsSay(t *testing.T) {
	promtool(t, "check", "rules", "--lint-fatal", "monitoring/rules.yaml")
	promtool(t, "test", "rules", "monitoring/rules_test.yaml")
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

// two is an environment in which the controller has a second replica.
var two = installation{"controller": {"controller", "controller-1"}, "hooks": {"hooks"}, "webhook": {"webhook"}}

func TestQueries_Dashboard_ReturnDataAndNoAlertFires(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions(), harness.WithOverlay("hooks"), harness.WithReplicas("controller", 2))
	work(t, env)
	two.awaitMeasured(t, env)
	const rounds = 3
	values := map[string][]string{}
	for round := range rounds {
		for job, names := range two {
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
	for text, list := range values {
		one.Series = append(one.Series, series{text, strings.Join(list, " ")})
	}
	for _, query := range queries(t) {
		one.Queries = append(one.Queries, queryTest{"count(" + query + ") > bool 0", "2m", []sample{{"{}", 1}}})
	}
	for _, alert := range alerts(t) {
		one.Queries = append(one.Queries, queryTest{alert.Expr, "2m", []sample{}})
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
