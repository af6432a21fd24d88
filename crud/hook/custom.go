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

const (
	// mostMetrics bounds how many metrics a hook may define, which exist until the process ends.
	mostMetrics = 50
	// mostSeries bounds the number of series of a hook. OpenTelemetry exports up to 2000 of one metric.
	mostSeries = 500
)

// customMetrics are the metrics that executables write. Counters and gauges belong to a term: a process that does not lead exports none.
type customMetrics struct {
	ctx context.Context //nolint:containedctx // the callbacks of instruments end with it

	// applying is held while instruments are created, which waits for callbacks: these take mu.
	applying sync.Mutex
	// instruments are by the names that exporters distinguish.
	instruments map[string]instrument

	mu     sync.Mutex
	series map[seriesKey]point
}

// instrument is a metric as its first line has defined it.
type instrument struct {
	metricLine

	definedBy string
	histogram metric.Float64Histogram // of observe
}

type seriesKey struct {
	name       string // that exporters distinguish
	attributes attribute.Set
}

// point is the value of a series.
type point struct {
	value float64
	// writtenBy is the hook, and group that of the last line.
	writtenBy, group string
}

func newCustomMetrics(ctx context.Context) *customMetrics {
	return &customMetrics{ctx: ctx, instruments: map[string]instrument{}, series: map[seriesKey]point{}}
}

// apply exports the lines of a hook, or none of them if one is rejected. Series of the groups in the lines expire unless the lines write them. It
// does nothing if the term is over.
func (c *customMetrics) apply(hook string, lines []metricLine, isOver func() bool) error {
	c.applying.Lock()
	defer c.applying.Unlock()
	if len(lines) == 0 || isOver() {
		return nil
	}
	instruments, series, groups, written := maps.Clone(c.instruments), maps.Clone(c.series), sets.New[string](), sets.New[seriesKey]()
	for _, line := range lines {
		groups.Insert(line.Group)
		if line.Action == actionExpire {
			maps.DeleteFunc(series, func(_ seriesKey, p point) bool { return p.group == line.Group })
			continue
		}
		if err := define(instruments, hook, line); err != nil {
			return line.mistake(fmt.Errorf("metric %s: %w", line.Name, err))
		}
		key, value := line.key(hook), *line.Value
		if line.Action == actionAdd {
			value += series[key].value
		}
		series[key] = point{value, hook, line.Group}
		written.Insert(key)
	}
	maps.DeleteFunc(series, func(key seriesKey, p point) bool { return p.group != "" && groups.Has(p.group) && !written.Has(key) })
	n := 0
	for _, p := range series {
		if p.writtenBy == hook {
			n++
		}
	}
	if n > mostSeries {
		return fmt.Errorf("%s: the hook has %d series, and the limit is %d: use labels with fewer values, or a group, whose old series expire",
			metricsVariable, n, mostSeries)
	}
	for name, i := range instruments {
		if _, ok := c.instruments[name]; ok {
			continue
		}
		if err := c.create(name, i); err != nil {
			return fmt.Errorf("metric %s: creating its instrument: %w", i.Name, err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.series = series
	for _, line := range lines {
		if key := line.key(hook); line.Action == actionObserve {
			c.instruments[key.name].histogram.Record(c.ctx, *line.Value, metric.WithAttributeSet(key.attributes))
		}
	}
	return nil
}

func (c *customMetrics) create(name string, i instrument) (err error) {
	description := metric.WithDescription("Written by hooks.")
	var series metric.Float64Observable
	switch i.Action {
	case actionObserve:
		i.histogram, err = meter.Float64Histogram(i.Name, description, metric.WithExplicitBucketBoundaries(i.Buckets...))
	case actionAdd:
		series, err = meter.Float64ObservableCounter(i.Name, description)
	default:
		series, err = meter.Float64ObservableGauge(i.Name, description)
	}
	if err == nil && series != nil {
		// A callback among the options would be ignored if an earlier runner of the process has created the instrument.
		_, err = meter.RegisterCallback(func(_ context.Context, observer metric.Observer) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			for key, p := range c.series {
				if key.name == name && c.ctx.Err() == nil {
					observer.ObserveFloat64(series, p.value, metric.WithAttributeSet(key.attributes))
				}
			}
			return nil
		}, series)
	}
	if err == nil {
		c.instruments[name] = i
	}
	return err //nolint:wrapcheck // the caller does
}

// reset removes the values of a term. OpenTelemetry keeps those of histograms.
func (c *customMetrics) reset() {
	c.applying.Lock()
	defer c.applying.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.series)
}

// define adds the metric of a line, unless it exists.
func define(all map[string]instrument, hook string, line metricLine) error {
	name := exportedName(line.Name)
	switch i, ok := all[name]; {
	case ok && (i.Name != line.Name || i.Action != line.Action || !slices.Equal(i.Buckets, line.Buckets)):
		return fmt.Errorf("hook %s has written it as %s, with the action %s and the buckets %v: write the same, or use another name",
			i.definedBy, i.Name, i.Action, i.Buckets)
	case ok:
		return nil
	}
	defined := 0
	for other, i := range all {
		if i.definedBy == hook {
			defined++
		}
		if i.Action == actionObserve && isPartOf(name, other) || line.Action == actionObserve && isPartOf(other, name) {
			return fmt.Errorf("its name is that of a part of a histogram, as %s exists: use another name", i.Name)
		}
	}
	if defined == mostMetrics {
		return fmt.Errorf("the hook has defined %d metrics, which is the limit: use labels", mostMetrics)
	}
	all[name] = instrument{metricLine: line, definedBy: hook}
	return nil
}

// isPartOf reports whether Prometheus has series of this name for a histogram.
func isPartOf(name, histogram string) bool {
	part, ok := strings.CutPrefix(name, histogram)
	return ok && slices.Contains([]string{"_bucket", "_count", "_sum"}, part)
}

// key returns the series of the line.
func (l *metricLine) key(hook string) seriesKey {
	attributes := []attribute.KeyValue{hookKey.String(hook)}
	for name, value := range l.Labels {
		attributes = append(attributes, attribute.String(name, value))
	}
	return seriesKey{exportedName(l.Name), attribute.NewSet(attributes...)}
}
