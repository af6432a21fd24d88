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
	ctx context.Context //nolint:containedctx // the callbacks of instruments end with it

	// applying is held while instruments are created, which waits for callbacks: these take mu.
	applying   sync.Mutex
	histograms map[string]metric.Float64Histogram

	mu      sync.Mutex
	metrics metrics
	files   int // that were applied
}

// metrics are by the names that exporters distinguish.
type metrics map[string]customMetric

type customMetric struct {
	name      string
	action    action
	buckets   []float64
	definedBy string
	series    map[attribute.Set]point
}

// point is the value of a series. A histogram has none: OpenTelemetry keeps its values.
type point struct {
	value float64
	// writtenBy is the hook, and group that of the last line.
	writtenBy, group string
	file             int // the number of the file
}

func newCustomMetrics(ctx context.Context) *customMetrics {
	return &customMetrics{ctx: ctx, metrics: metrics{}, histograms: map[string]metric.Float64Histogram{}}
}

// apply exports the lines of a hook, or none of them if one is rejected. Series of the groups in the lines expire unless the lines write them. It
// does nothing if the term is over.
func (c *customMetrics) apply(hook string, lines []metricLine, isOver func() bool) error {
	if len(lines) == 0 {
		return nil
	}
	c.applying.Lock()
	defer c.applying.Unlock()
	next := c.copied()
	c.files++
	groups := sets.New[string]()
	for _, line := range lines {
		groups.Insert(line.Group)
		if line.Action == actionExpire {
			next.remove(func(p point) bool { return p.group == line.Group })
		} else if err := next.write(hook, line, c.files); err != nil {
			return line.mistake("%w", err)
		}
	}
	next.remove(func(p point) bool { return p.group != "" && groups.Has(p.group) && p.file != c.files })
	if n := next.count(hook); n > mostSeries {
		return fmt.Errorf("%s: the hook has %d series, and the limit is %d: use labels with fewer values, or a group, whose old series expire",
			metricsVariable, n, mostSeries)
	}
	for name, m := range next {
		if _, ok := c.metrics[name]; ok {
			continue
		}
		if err := c.export(name, m); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metrics = next
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

func (c *customMetrics) copied() metrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	copied := maps.Clone(c.metrics)
	for name, m := range copied {
		m.series = maps.Clone(m.series)
		copied[name] = m
	}
	return copied
}

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

func (all metrics) remove(matches func(point) bool) {
	for _, m := range all {
		maps.DeleteFunc(m.series, func(_ attribute.Set, p point) bool { return matches(p) })
	}
}

func (all metrics) count(hook string) (n int) {
	for _, m := range all {
		for _, p := range m.series {
			if p.writtenBy == hook {
				n++
			}
		}
	}
	return n
}

// write applies a line, which is in a file.
func (all metrics) write(hook string, line metricLine, file int) error {
	m, err := all.define(hook, line)
	if err != nil {
		return err
	}
	attributes, value := line.attributes(hook), *line.Value
	if line.Action == actionAdd {
		value += m.series[attributes].value
	}
	m.series[attributes] = point{value, hook, line.Group, file}
	return nil
}

func (all metrics) define(hook string, line metricLine) (customMetric, error) {
	name := exportedName(line.Name)
	m, ok := all[name]
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
	for other, m := range all {
		if m.definedBy == hook {
			defined++
		}
		if m.action == actionObserve && isPartOf(name, other) || line.Action == actionObserve && isPartOf(other, name) {
			return m, fmt.Errorf("metric %s: its name is that of a part of a histogram, as %s exists: use another name", line.Name, m.name)
		}
	}
	if defined == mostMetrics {
		return m, fmt.Errorf("metric %s: the hook has defined %d metrics, which is the limit: use labels", line.Name, mostMetrics)
	}
	m = customMetric{name: line.Name, action: line.Action, buckets: line.Buckets, definedBy: hook, series: map[attribute.Set]point{}}
	all[name] = m
	return m, nil
}

// isPartOf reports whether Prometheus has series of this name for a histogram.
func isPartOf(name, histogram string) bool {
	part, ok := strings.CutPrefix(name, histogram)
	return ok && slices.Contains([]string{"_bucket", "_count", "_sum"}, part)
}

func (l *metricLine) attributes(hook string) attribute.Set {
	attributes := []attribute.KeyValue{hookKey.String(hook)}
	for name, value := range l.Labels {
		attributes = append(attributes, attribute.String(name, value))
	}
	return attribute.NewSet(attributes...)
}
