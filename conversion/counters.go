/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import "sync/atomic"

// Counter counts events since the process started. Packages conversion/knative and conversion/controllerruntime
// export the counters.
type Counter struct {
	// Name is that of the metric in OpenTelemetry. In Prometheus conversion.bag.dropped is called conversion_bag_dropped_total.
	Name string
	// Unit is a unit of UCUM, such as {panic}.
	Unit        string
	Description string

	parts map[string]*atomic.Int64
}

// PartLabel is the label, or attribute, that distinguishes the counts of one Counter.
const PartLabel = "part"

// The parts of a bag that may be dropped.
const (
	partAnnotation = "annotation"
	partEntry      = "entry"
)

var (
	dropped = newCounter("conversion.bag.dropped", "{drop}",
		"Stashed properties that were malformed or beyond a limit and therefore dropped, whole annotations or single entries.",
		partAnnotation, partEntry)
	truncated = newCounter("conversion.bag.truncated", "{annotation}",
		"Representations of objects without their stashed properties, because these exceeded a limit.", "")
	large = newCounter("conversion.bag.large", "{annotation}",
		"Representations of objects whose stashed properties need more than 16 KiB, a quarter of the limit.", "")
	panics = newCounter("conversion.panics", "{panic}",
		"Panics during conversions that were turned into errors.", "")
)

// Counters returns all counters of this package.
func Counters() []*Counter { return []*Counter{dropped, truncated, large, panics} }

// Counts returns the counts by the value of PartLabel, zeros among them: an alert on an increase needs the value before the first
// event. A counter without the label has one count, under the empty text.
func (c *Counter) Counts() map[string]int64 {
	counts := make(map[string]int64, len(c.parts))
	for part, count := range c.parts {
		counts[part] = count.Load()
	}
	return counts
}

func newCounter(name, unit, description string, parts ...string) *Counter {
	c := &Counter{Name: name, Unit: unit, Description: description, parts: make(map[string]*atomic.Int64, len(parts))}
	for _, part := range parts {
		c.parts[part] = &atomic.Int64{}
	}
	return c
}

func count(c *Counter) { c.parts[""].Add(1) }

func countDropped(part string) { dropped.parts[part].Add(1) }
