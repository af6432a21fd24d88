/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// writes adds an executable hook that writes the text in a ConfigMap of its name as its metrics, and then does what body does.
func (s *scene) writes(name string, allowFailure bool, body string) {
	s.Helper()
	s.create(name, "", nil)
	s.script(name, fmt.Sprintf(`configVersion: v1
kubernetes:
- kind: ConfigMap
  allowFailure: %t
  queue: %s
  nameSelector: {matchNames: [%s]}
  namespace: {nameSelector: {matchNames: [$NS]}}`, allowFailure, name, name), `
crud::context '.[-1].object.data.value // empty' >"$METRICS_PATH"
[[ -s "$METRICS_PATH" ]] || exit 0
`+body)
}

// startWriters starts the executable hooks, and waits for their first runs, which write nothing.
func (s *scene) startWriters(names ...string) {
	s.Helper()
	before := map[string]int64{}
	for _, name := range names {
		before[name] = counted(s, "hook.runs", name, "result", "success")
	}
	s.start(s.quick(), s.load(s.quick())...)
	for _, name := range names {
		expectMeasured(s, before[name]+1, "hook.runs", name, "result", "success")
	}
}

// write has such a hook run, and waits until a run has ended with the result. X_ in the lines is the prefix of the metrics of the test.
func (s *scene) write(name, result string, lines ...string) {
	s.Helper()
	before := counted(s, "hook.runs", name, "result", result)
	s.set(name, strings.ReplaceAll(strings.Join(lines, "\n"), "X_", s.prefix()))
	awaitMeasured(s, before+1, "hook.runs", name, "result", result)
}

func (s *scene) set(name, value string) {
	s.Helper()
	patch, err := json.Marshal(map[string]any{"data": map[string]string{"value": value}})
	if err != nil {
		s.Fatal(err)
	}
	s.patch(name, string(patch))
}

// prefix is that of the names of metrics and hooks of the test, as the process exports those of all tests.
func (s *scene) prefix() string { return strings.ReplaceAll(s.ns, "-", "_") + "_" }

// exported returns the series of metrics with a prefix as Prometheus receives them, without the labels of the library.
func (s *scene) exported(prefix string) (series []string) {
	s.Helper()
	families, err := registry.Gather()
	if err != nil {
		s.Fatalf("the metrics cannot be read: %v", err)
	}
	for _, family := range families {
		name, ok := strings.CutPrefix(family.GetName(), prefix)
		if !ok {
			continue
		}
		for _, m := range family.GetMetric() {
			var labels []string
			for _, label := range m.GetLabel() {
				if !strings.HasPrefix(label.GetName(), "otel_scope_") {
					labels = append(labels, label.GetName()+"="+label.GetValue())
				}
			}
			values := []string{fmt.Sprint(m.GetCounter().GetValue() + m.GetGauge().GetValue())}
			if h := m.GetHistogram(); h != nil {
				values = []string{strconv.FormatUint(h.GetSampleCount(), 10), fmt.Sprint(h.GetSampleSum())}
				for _, bucket := range h.GetBucket() {
					values = append(values, fmt.Sprintf("%v:%d", bucket.GetUpperBound(), bucket.GetCumulativeCount()))
				}
			}
			series = append(series, fmt.Sprintf("%s %s{%s} %s", strings.ToLower(family.GetType().String()), name, strings.Join(labels, ","), strings.Join(values, " ")))
		}
	}
	slices.Sort(series)
	return series
}

func (s *scene) expectExported(want ...string) {
	s.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, s.exported(s.prefix())); diff != "" {
		s.Errorf("the metrics (-want +got):\n%s", diff)
	}
}

// The series are those of the example in the documentation of shell-operator.
func TestMetrics_OfExecutables_AreExportedAndExpireByGroup(t *testing.T) {
	s := newScene(t)
	s.writes("one", true, "")
	s.writes("two", true, "")
	s.startWriters("one", "two")
	s.write("one", "success",
		`{"group":"X_one", "name":"X_metric", "action":"add", "value":1, "labels":{"kind":"pod"}}`,
		`{"group":"X_one", "name":"X_metric", "action":"add", "value":1, "labels":{"kind":"replicaset"}}`,
		`{"group":"X_one", "name":"X_special", "action":"set", "value":12, "labels":{"label1":"value1"}}`,
		`{"group":"X_one", "name":"X_common", "set":300, "labels":{"source":"source3"}}`,
		`{"name":"X_common", "action":"set",`, ` "value":100, "labels":{"source":"source1"}} {"name":"X_seconds", "action":"observe", "value":0.5, "buckets":[0.1,1,10]}`,
		`{"name":"X_ungrouped_total", "add":2.5}`)
	s.write("two", "success",
		`{"group":"X_two", "name":"X_metric", "action":"add", "value":1, "labels":{"kind":"secret"}}`,
		`{"group":"X_two", "name":"X_two_special", "action":"set", "value":42}`,
		`{"name":"X_common", "action":"set", "value":200, "labels":{"source":"source2"}}`,
		`{"name":"X_seconds", "action":"observe", "value":7, "buckets":[0.1,1,10]}`)
	s.expectExported("counter metric_total{hook=one,kind=pod} 1", "counter metric_total{hook=one,kind=replicaset} 1",
		"counter metric_total{hook=two,kind=secret} 1", "counter ungrouped_total{hook=one} 2.5",
		"gauge common{hook=one,source=source1} 100", "gauge common{hook=one,source=source3} 300", "gauge common{hook=two,source=source2} 200",
		"gauge special{hook=one,label1=value1} 12", "gauge two_special{hook=two} 42",
		"histogram seconds{hook=one} 1 0.5 0.1:0 1:1 10:1", "histogram seconds{hook=two} 1 7 0.1:0 1:0 10:1")
	s.write("one", "success",
		`{"group":"X_one", "name":"X_metric", "action":"add", "value":1, "labels":{"kind":"pod"}}`, `{"name":"X_ungrouped_total", "add":1}`)
	s.expectExported("counter metric_total{hook=one,kind=pod} 2", "counter metric_total{hook=two,kind=secret} 1", "counter ungrouped_total{hook=one} 3.5",
		"gauge common{hook=one,source=source1} 100", "gauge common{hook=two,source=source2} 200", "gauge two_special{hook=two} 42",
		"histogram seconds{hook=one} 1 0.5 0.1:0 1:1 10:1", "histogram seconds{hook=two} 1 7 0.1:0 1:0 10:1")
	s.write("two", "success", `{"group":"X_two", "action":"expire"}`, `{"name":"X_seconds", "action":"observe", "value":0, "buckets":[0.1,1,10]}`)
	s.expectExported("counter metric_total{hook=one,kind=pod} 2", "counter ungrouped_total{hook=one} 3.5",
		"gauge common{hook=one,source=source1} 100", "gauge common{hook=two,source=source2} 200",
		"histogram seconds{hook=one} 1 0.5 0.1:0 1:1 10:1", "histogram seconds{hook=two} 2 7 0.1:1 1:1 10:2")
	s.end()
	harness.Eventually(t, "the process exports no counter and no gauge", func(context.Context) error {
		want := []string{"histogram seconds{hook=one} 1 0.5 0.1:0 1:1 10:1", "histogram seconds{hook=two} 2 7 0.1:1 1:1 10:2"}
		if diff := cmp.Diff(want, s.exported(s.prefix())); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}

// A run that is repeated counts once.
func TestMetrics_OfFailedRuns_AreDiscarded(t *testing.T) {
	s := newScene(t)
	s.writes("exits", false, `if [[ ! -e "$runs/succeed" ]]; then touch "$runs/succeed"; exit 1; fi`)
	s.writes("operates", false, `crud::merge_patch -n "$ns" ConfigMap target 'data: {value: patched}'`)
	s.startWriters("exits", "operates")
	s.write("operates", "error", `{"name":"X_operates", "add":1}`)
	s.write("exits", "success", `{"name":"X_exits", "add":1}`)
	s.expectExported("counter exits_total{hook=exits} 1")
	succeeded := counted(t, "hook.runs", "operates", "result", "success")
	s.create("target", "", nil)
	expectMeasured(t, succeeded+1, "hook.runs", "operates", "result", "success")
	s.expectExported("counter exits_total{hook=exits} 1", "counter operates_total{hook=operates} 1")
}

// Nothing of a file with a mistake is exported, and no operation of its run is executed.
func TestMetrics_Mistakes_FailTheRunAndNameTheLine(t *testing.T) {
	s := newScene(t)
	s.writes("mistaken", true, `crud::create_or_update --arg ns="$ns" '{apiVersion: "v1", kind: "ConfigMap", metadata: {namespace: $ns, name: "executed"}}'`)
	s.startWriters("mistaken")
	s.write("mistaken", "error", `{"name":"X_valid", "set":1}`, `{"name":"X_typo", "set":1, "lables":{"a":"b"}}`)
	s.write("mistaken", "error", `{"name":"X_valid", "set":1}`, "", `{"name":"process_ready", "set":1}`)
	s.expectExported()
	expectMeasured(t, 2, "operations.file.rejected", "mistaken", "reason", "metrics")
	logged := fmt.Sprint(s.logs.FilterMessage("A hook failed, which its binding allows").All())
	for _, want := range []string{`METRICS_PATH:2: unknown field "lables"`, "METRICS_PATH:3: name: process_ready is reserved for metrics of the process"} {
		if !strings.Contains(logged, want) {
			t.Errorf("the log lacks %q: %s", want, logged)
		}
	}
	if _, err := s.env.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), "executed", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an operation was executed: %v", err)
	}
}

// A hook that writes too many metrics or series is rejected, and others are not.
func TestMetrics_BeyondTheLimits_AreRejected(t *testing.T) {
	s := newScene(t)
	s.writes("greedy", true, "")
	s.writes("modest", true, "")
	s.startWriters("greedy", "modest")
	numbered := func(n int, format string) (lines []string) {
		for i := range n {
			lines = append(lines, fmt.Sprintf(format, i))
		}
		return lines
	}
	s.write("greedy", "success", numbered(500, `{"group":"X_g", "name":"X_many", "set":1, "labels":{"n":"%d"}}`)...)
	// They replace those of the same group.
	s.write("greedy", "success", numbered(500, `{"group":"X_g", "name":"X_many", "set":2, "labels":{"n":"new %d"}}`)...)
	before := s.exported(s.prefix())
	if len(before) != 500 {
		t.Fatalf("%d series are exported", len(before))
	}
	for what, lines := range map[string][]string{
		"METRICS_PATH: the hook has 501 series, and the limit is 500":                                    numbered(501, `{"group":"X_g", "name":"X_many", "set":3, "labels":{"n":"%d"}}`),
		"METRICS_PATH: the hook has 501 series, and the limit is 500:":                                   {`{"name":"X_other", "add":1}`},
		"METRICS_PATH:50: metric X_m49: the hook has defined 50 metrics":                                 numbered(50, `{"group":"X_g", "name":"X_m%d", "set":1}`),
		"METRICS_PATH:1: metric X_many: hook greedy has written it as X_many, with the action set":       {`{"name":"X_many", "add":1, "group":"X_g"}`},
		"METRICS_PATH:1: metric X_many_total: hook greedy has written it as X_many, with the action set": {`{"name":"X_many_total", "add":1, "group":"X_g"}`},
	} {
		s.write("greedy", "error", lines...)
		if logged := fmt.Sprint(s.logs.FilterMessage("A hook failed, which its binding allows").All()); !strings.Contains(logged, strings.ReplaceAll(what, "X_", s.prefix())) {
			t.Errorf("the log lacks %q: %.2000s", what, logged)
		}
	}
	s.expectExported(before...)
	s.write("modest", "success", `{"name":"X_modest", "set":1}`)
	s.expectExported(append(before, "gauge modest{hook=modest} 1")...)
}

func TestMetrics_SecretInALabel_IsMasked(t *testing.T) {
	s := newScene(t)
	if _, err := s.env.Kube.CoreV1().Secrets(s.ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "it"}, StringData: map[string]string{"password": harness.Canary(t)},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.script("leaks", "configVersion: v1\nkubernetes: [{kind: Secret, namespace: {nameSelector: {matchNames: [$NS]}}}]", `
secret=$(crud::context '.[0].objects[0].object.data.password | @base64d')
echo '{"name": "`+s.prefix()+`leaks", "set": 1, "labels": {"password": "it is '"$secret"'"}}' >>"$METRICS_PATH"
echo '{"name": "web_replicas", "action": "set", "value": 3, "labels": {"app": "web"}, "group": "replicas"}' >>"$METRICS_PATH"
`)
	s.start(s.quick(), s.load(s.quick())...)
	expectMeasured(t, 1, "hook.runs", "leaks", "result", "success")
	s.expectExported("gauge leaks{hook=leaks,password=it is ***} 1")
	if diff := cmp.Diff([]string{"gauge replicas{app=web,hook=leaks} 3"}, s.exported("web_")); diff != "" {
		t.Errorf("the metric of the documentation (-want +got):\n%s", diff)
	}
}
