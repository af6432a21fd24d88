/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
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
