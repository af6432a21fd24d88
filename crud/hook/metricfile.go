/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

const (
	// mostOfMetrics bounds the size of a file of metrics, mostMistakes how many of its mistakes are reported.
	mostOfMetrics, mostMistakes = 1 << 20, 10
	// These bound one line.
	mostBuckets, mostLabels, mostOfLabel = 100, 16, 256
)

type action string

const (
	actionAdd     action = "add"     // increases a counter
	actionSet     action = "set"     // sets a gauge
	actionObserve action = "observe" // records a value in a histogram
	actionExpire  action = "expire"  // removes the series of a group
)

// metricLine is one line of the file of metrics. Its JSON is that of shell-operator.
type metricLine struct {
	Name    string            `json:"name"`
	Action  action            `json:"action"`
	Value   *float64          `json:"value"`
	Labels  map[string]string `json:"labels"`
	Group   string            `json:"group"`
	Buckets []float64         `json:"buckets"`
	// Add and Set are short for an action and its value.
	Add *float64 `json:"add"`
	Set *float64 `json:"set"`

	number int
	prefix string // of the metrics of the process
}

// parseMetrics returns the lines of a file of metrics. Each mistake is a line of the error, with the number of the line. prefix
// is Options.MetricPrefix.
func parseMetrics(content []byte, prefix string) (lines []metricLine, _ error) {
	if len(content) > mostOfMetrics {
		return nil, fmt.Errorf("%s: it has more than %d bytes", metricsVariable, mostOfMetrics)
	}
	var errs []error
	decoder := json.NewDecoder(bytes.NewReader(content))
	for len(errs) < mostMistakes {
		read := content[:decoder.InputOffset()]
		rest := bytes.TrimLeft(content[len(read):], " \t\r\n")
		line := metricLine{number: 1 + bytes.Count(content[:len(content)-len(rest)], []byte("\n")), prefix: prefix}
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			errs = append(errs, line.mistake("it is not JSON: %w", err))
			break
		}
		for _, err := range append(line.decode(raw), line.check()...) {
			errs = append(errs, line.mistake("%w", err))
		}
		lines = append(lines, line)
	}
	return lines, errors.Join(errs...)
}

func (l *metricLine) mistake(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", metricsVariable, l.number, fmt.Errorf(format, args...))
}

func (l *metricLine) decode(raw json.RawMessage) (errs []error) {
	strict, err := kjson.UnmarshalStrict(raw, l)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("%s: it is a %s, and must be a %s", cmp.Or(wrong.Field, "the line"), wrong.Value, cmp.Or(typeNames[wrong.Type.Kind()], "object"))
	}
	if err != nil {
		return []error{err}
	}
	for _, err := range strict {
		errs = append(errs, advised(err, reflect.TypeFor[metricLine]()))
	}
	for short, value := range map[action]*float64{actionAdd: l.Add, actionSet: l.Set} {
		switch {
		case value == nil:
		case l.Action != "" || l.Value != nil:
			errs = append(errs, fmt.Errorf("%s: it is short for action and value: use either", short))
		default:
			l.Action, l.Value = short, value
		}
	}
	return errs
}

var typeNames = map[reflect.Kind]string{reflect.Float64: "number", reflect.Slice: "list", reflect.String: "string"}

func (l *metricLine) check() (errs []error) {
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch l.Action {
	case "":
		return []error{errors.New("action: it is missing: use add, set, observe or expire")}
	case actionExpire:
		if l.Group == "" {
			fail("group: it is missing: expire removes the metrics of a group")
		}
		if l.Name != "" || l.Value != nil || l.Labels != nil || l.Buckets != nil {
			fail("action: expire removes all metrics of the group: leave out the fields other than group")
		}
		return errs
	case actionObserve:
		if l.Group != "" {
			fail("group: a histogram cannot expire: leave out group")
		}
		increases := slices.IsSortedFunc(l.Buckets, func(a, b float64) int { return cmp.Or(cmp.Compare(a, b), -1) })
		if len(l.Buckets) == 0 || len(l.Buckets) > mostBuckets || !increases {
			fail("buckets: they must be up to %d numbers that increase, such as [0.1, 1, 10]", mostBuckets)
		}
	case actionAdd, actionSet:
		if l.Buckets != nil {
			fail("buckets: they do not belong to %s, but to observe", l.Action)
		}
	default:
		return []error{fmt.Errorf("action: there is no %q: use add, set, observe or expire", l.Action)}
	}
	if l.Value == nil {
		fail("value: it is missing")
	} else if l.Action == actionAdd && *l.Value < 0 {
		fail("value: a counter does not decrease: use set for a gauge")
	}
	if err := checkMetricName(l.Name, l.prefix); err != nil {
		errs = append(errs, err)
	}
	if len(l.Labels) > mostLabels {
		fail("labels: there are %d: use up to %d", len(l.Labels), mostLabels)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Labels)) {
		if err := checkLabel(name, l.Labels[name]); err != nil {
			fail("labels.%s: %w", name, err)
		}
	}
	return errs
}

var (
	metricNames   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,199}$`)
	labelNames    = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,99}$`)
	reservedNames = []string{
		"config_valid", "conversion_bag_", "conversion_panics", "go_", "hook_queue_", "hook_review", "hook_run", "http_client_", "http_server_", "kn_",
		"kubernetes_client_", "leader_", "object_deletions_", "object_operation", "object_write_", "observer_", "operations_file_", "otel_",
		"process_", "promhttp_", "reconcile_", "target_info", "webhook_certificate_",
	}
	// reservedLabels are set by the process and by Prometheus.
	reservedLabels = []string{"__", "otel_scope_"}
	ownLabels      = []string{string(hookKey), "le", "quantile"}
)

func checkMetricName(name, prefix string) error {
	switch {
	case name == "":
		return errors.New("name: it is missing")
	case !metricNames.MatchString(name) || exportedName(name) == "":
		return fmt.Errorf("name: %q must consist of up to 200 letters, digits and underscores, and begin with a letter", name)
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(exportedName(name), exportedName(prefix)), "_")
	isPrefix := func(reserved string) bool {
		return strings.HasPrefix(exportedName(name)+"_", reserved) || strings.HasPrefix(plain+"_", reserved)
	}
	if slices.ContainsFunc(reservedNames, isPrefix) {
		return fmt.Errorf("name: %s is reserved for metrics of the process: use another name", name)
	}
	return nil
}

func checkLabel(name, value string) error {
	switch {
	case !labelNames.MatchString(name):
		return errors.New("the name must consist of up to 100 letters, digits and underscores, and not begin with a digit")
	case slices.Contains(ownLabels, name), slices.ContainsFunc(reservedLabels, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		return errors.New("the label is set by the process or by Prometheus: use another name")
	case len(value) > mostOfLabel:
		return fmt.Errorf("the value has %d bytes: use up to %d", len(value), mostOfLabel)
	}
	return nil
}

// exportedName returns the name by which exporters distinguish metrics: they append total to counters, and join the parts of a name with single
// underscores.
func exportedName(name string) string {
	parts := slices.DeleteFunc(strings.Split(name, "_"), func(part string) bool { return part == "" || part == "total" })
	return strings.Join(parts, "_")
}
