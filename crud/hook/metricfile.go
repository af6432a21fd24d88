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
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

const (
	// mostOfMetrics bounds the size of a file of metrics.
	mostOfMetrics = 1 << 20
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
}

// parseMetrics returns the lines of a file of metrics. The error is the first mistake, with the number of its line. prefix is Options.MetricPrefix.
func parseMetrics(content []byte, prefix string) (lines []metricLine, _ error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	for number, read := 1, 0; ; {
		begin := len(content) - len(bytes.TrimLeft(content[decoder.InputOffset():], " \t\r\n"))
		number += bytes.Count(content[read:begin], []byte("\n"))
		read = begin
		line := metricLine{number: number}
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		switch {
		case errors.Is(err, io.EOF):
			return lines, nil
		case err != nil:
			err = fmt.Errorf("it is not JSON: %w", err)
		default:
			err = line.decode(raw, prefix)
		}
		if err != nil {
			return nil, line.mistake(err)
		}
		lines = append(lines, line)
	}
}

func (l *metricLine) mistake(err error) error {
	return fmt.Errorf("%s:%d: %w", metricsVariable, l.number, err)
}

func (l *metricLine) decode(raw json.RawMessage, prefix string) error {
	if strict, err := kjson.UnmarshalStrict(raw, l); err != nil || len(strict) > 0 {
		return errors.Join(append(strict, err)...)
	}
	for short, value := range map[action]*float64{actionAdd: l.Add, actionSet: l.Set} {
		switch {
		case value == nil:
		case l.Action != "" || l.Value != nil:
			return fmt.Errorf("%s: it is short for action and value: use either", short)
		default:
			l.Action, l.Value = short, value
		}
	}
	return l.check(prefix)
}

func (l *metricLine) check(prefix string) error {
	isExpire, isObserve := l.Action == actionExpire, l.Action == actionObserve
	switch {
	case !slices.Contains([]action{actionAdd, actionSet, actionObserve, actionExpire}, l.Action):
		return fmt.Errorf("action: it must be add, set, observe or expire, not %q", l.Action)
	case isExpire && l.Group == "":
		return errors.New("group: it is missing: expire removes the metrics of a group")
	case isExpire && (l.Name != "" || l.Value != nil || l.Labels != nil || l.Buckets != nil):
		return errors.New("action: expire removes all metrics of the group: leave out the fields other than group")
	case isExpire:
		return nil
	case isObserve && l.Group != "":
		return errors.New("group: a histogram cannot expire: leave out group")
	case isObserve && !areBuckets(l.Buckets):
		return fmt.Errorf("buckets: they must be up to %d numbers that increase, such as [0.1, 1, 10]", mostBuckets)
	case !isObserve && l.Buckets != nil:
		return fmt.Errorf("buckets: they do not belong to %s, but to observe", l.Action)
	case l.Value == nil:
		return errors.New("value: it is missing")
	case l.Action == actionAdd && *l.Value < 0:
		return errors.New("value: a counter does not decrease: use set for a gauge")
	case len(l.Labels) > mostLabels:
		return fmt.Errorf("labels: there are %d: use up to %d", len(l.Labels), mostLabels)
	}
	for name, value := range l.Labels {
		if err := checkLabel(name, value); err != nil {
			return fmt.Errorf("labels.%s: %w", name, err)
		}
	}
	return checkMetricName(l.Name, prefix)
}

func areBuckets(buckets []float64) bool {
	increase := slices.IsSortedFunc(buckets, func(a, b float64) int { return cmp.Or(cmp.Compare(a, b), -1) })
	return increase && len(buckets) > 0 && len(buckets) <= mostBuckets
}

var (
	metricNames   = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,199}$`)
	labelNames    = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,99}$`)
	reservedNames = []string{
		"config_valid", "conversion_bag_", "conversion_panics", "go_", "hook_queue_", "hook_review", "hook_run", "http_client_", "http_server_", "kn_",
		"kubernetes_client_", "leader_", "object_operation", "object_write_", "observer_", "operations_file_", "otel_",
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
