/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"k8s.io/apimachinery/pkg/util/sets"
)

const (
	// mostMetrics bounds how many metrics a hook may define, which exist until the process ends.
	mostMetrics = 50
	// mostSeries bounds the number of series of a hook. OpenTelemetry exports up to 2000 of one metric.
	mostSeries = 500
)

// change holds the metrics after the lines of a hook.
type change struct {
	hook    string
	metrics map[string]customMetric
}

// applyAll applies the lines of a file.
func (c *change) applyAll(lines []metricLine) error {
	c.expire(lines)
	for _, line := range lines {
		if err := c.apply(line); err != nil {
			return line.mistake("%w", err)
		}
	}
	c.remove(func(p point) bool { return p.expires })
	return nil
}

// expire marks the series of the groups in the lines.
func (c *change) expire(lines []metricLine) {
	groups := sets.New[string]()
	for _, line := range lines {
		groups.Insert(line.Group)
	}
	groups.Delete("")
	for _, m := range c.metrics {
		for attributes, p := range m.series {
			p.expires = groups.Has(p.group)
			m.series[attributes] = p
		}
	}
}

// remove removes the series that match.
func (c *change) remove(matches func(point) bool) {
	for _, m := range c.metrics {
		maps.DeleteFunc(m.series, func(_ attribute.Set, p point) bool { return matches(p) })
	}
}

// apply applies a line.
func (c *change) apply(line metricLine) error {
	if line.Action == actionExpire {
		c.remove(func(p point) bool { return p.group == line.Group })
		return nil
	}
	m, err := c.metricOf(line)
	if err != nil {
		return err
	}
	attributes := line.attributes(c.hook)
	p, exists := m.series[attributes]
	isNew := !exists || p.expires
	if line.Action == actionAdd {
		p.value += *line.Value
	} else {
		p.value = *line.Value
	}
	p.writtenBy, p.group, p.expires = c.hook, line.Group, false
	m.series[attributes] = p
	if isNew && c.count() > mostSeries {
		return fmt.Errorf("metric %s: the hook has %d series, which is the limit: use labels with fewer values, or a group, whose old series expire",
			m.name, mostSeries)
	}
	return nil
}

// count returns the number of series of the hook that do not expire.
func (c *change) count() (n int) {
	for _, m := range c.metrics {
		for _, p := range m.series {
			if p.writtenBy == c.hook && !p.expires {
				n++
			}
		}
	}
	return n
}

// metricOf returns the metric of a line, which it defines if it is new.
func (c *change) metricOf(line metricLine) (customMetric, error) {
	name := exportedName(line.Name)
	m, ok := c.metrics[name]
	switch {
	case ok && m.name != line.Name:
		return m, fmt.Errorf("metric %s: it is exported by the same name as %s: use one of them", line.Name, m.name)
	case ok && m.action != line.Action:
		return m, fmt.Errorf("metric %s: hook %s has written it with the action %s, and it cannot have another: use another name",
			m.name, m.definedBy, m.action)
	case ok && !slices.Equal(m.buckets, line.Buckets):
		return m, fmt.Errorf("metric %s: hook %s has written it with the buckets %v, and it cannot have others: use the same", m.name, m.definedBy, m.buckets)
	case ok:
		return m, nil
	}
	defined := 0
	for other, m := range c.metrics {
		if m.definedBy == c.hook {
			defined++
		}
		if m.action == actionObserve && isPartOf(name, other) || line.Action == actionObserve && isPartOf(other, name) {
			return m, fmt.Errorf("metric %s: its name is that of a part of a histogram, as %s exists: use another name", line.Name, m.name)
		}
	}
	if defined == mostMetrics {
		return m, fmt.Errorf("metric %s: the hook has defined %d metrics, which is the limit: use labels", line.Name, mostMetrics)
	}
	m = customMetric{name: line.Name, action: line.Action, buckets: line.Buckets, definedBy: c.hook, series: map[attribute.Set]point{}}
	c.metrics[name] = m
	return m, nil
}

// isPartOf reports whether Prometheus has series of this name for a histogram.
func isPartOf(name, histogram string) bool {
	part, ok := strings.CutPrefix(name, histogram)
	return ok && slices.Contains([]string{"_bucket", "_count", "_sum"}, part)
}

// attributes are the labels of the series.
func (l *metricLine) attributes(hook string) attribute.Set {
	attributes := []attribute.KeyValue{hookKey.String(hook)}
	for name, value := range l.Labels {
		attributes = append(attributes, attribute.String(name, value))
	}
	return attribute.NewSet(attributes...)
}
