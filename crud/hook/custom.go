/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"k8s.io/apimachinery/pkg/util/sets"
)

// customMetrics are the metrics that executables write. Counters and gauges belong to a term: a process that does not lead exports none.
type customMetrics struct {
	// ctx is that of the process.
	ctx context.Context //nolint:containedctx // the callbacks of instruments end with it

	// applying is held while instruments are created, which waits for callbacks: these take mu.
	applying   sync.Mutex
	histograms map[string]metric.Float64Histogram

	mu sync.Mutex
	// metrics are by the names that exporters distinguish.
	metrics map[string]customMetric
}

// customMetric is a metric and its series.
type customMetric struct {
	name    string
	action  action
	buckets []float64
	// definedBy is the hook that wrote it first.
	definedBy string
	series    map[attribute.Set]point
}

// point is the value of a series. A histogram has none: OpenTelemetry keeps its values.
type point struct {
	value float64
	// writtenBy is the hook, and group that of the last line.
	writtenBy, group string
	// expires reports whether the file that is being applied has written others of its group, but not this one.
	expires bool
}

func newCustomMetrics(ctx context.Context) *customMetrics {
	return &customMetrics{ctx: ctx, metrics: map[string]customMetric{}, histograms: map[string]metric.Float64Histogram{}}
}

// apply exports the lines of a hook, or none of them if one is rejected. Series of the groups in the lines expire unless the lines write them. It
// does nothing if the term is over.
func (c *customMetrics) apply(hook string, lines []metricLine, isOver func() bool) error {
	if len(lines) == 0 {
		return nil
	}
	c.applying.Lock()
	defer c.applying.Unlock()
	next := change{hook, c.copied()}
	if err := next.applyAll(lines); err != nil {
		return err
	}
	for name, m := range next.metrics {
		if _, ok := c.metrics[name]; ok {
			continue
		}
		if err := c.export(name, m); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metrics = next.metrics
	if isOver() {
		c.clear()
		return nil
	}
	for _, line := range lines {
		if line.Action == actionObserve {
			c.histograms[exportedName(line.Name)].Record(c.ctx, *line.Value, metric.WithAttributeSet(line.attributes(hook)))
		}
	}
	return nil
}

func (c *customMetrics) copied() map[string]customMetric {
	c.mu.Lock()
	defer c.mu.Unlock()
	metrics := maps.Clone(c.metrics)
	for name, m := range metrics {
		m.series = maps.Clone(m.series)
		metrics[name] = m
	}
	return metrics
}

// export creates the instrument of a new metric.
func (c *customMetrics) export(name string, m customMetric) (err error) {
	description := metric.WithDescription("Written by hooks.")
	series := metric.WithFloat64Callback(func(_ context.Context, observer metric.Float64Observer) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		for attributes, p := range c.metrics[name].series {
			if c.ctx.Err() == nil {
				observer.Observe(p.value, metric.WithAttributeSet(attributes))
			}
		}
		return nil
	})
	switch m.action {
	case actionObserve:
		c.histograms[name], err = meter.Float64Histogram(m.name, description, metric.WithExplicitBucketBoundaries(m.buckets...))
	case actionAdd:
		_, err = meter.Float64ObservableCounter(m.name, description, series)
	default:
		_, err = meter.Float64ObservableGauge(m.name, description, series)
	}
	if err != nil {
		return fmt.Errorf("metric %s: creating its instrument: %w", m.name, err)
	}
	return nil
}

// reset removes the counters and gauges at the end of a term.
func (c *customMetrics) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

func (c *customMetrics) clear() {
	for _, m := range c.metrics {
		if m.action != actionObserve {
			clear(m.series)
		}
	}
}

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
