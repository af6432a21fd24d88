/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// scope is the instrumentation scope of the meter of this package.
const scope = "github.com/mallard-dev/mallard/conversion"

// The part of a bag that was dropped, an attribute of the metric.
const (
	partKey        = attribute.Key("part")
	partAnnotation = "annotation"
	partEntry      = "entry"
)

// Made before the process sets its provider of meters, these are shown when it does.
var (
	dropped = counters("conversion.bag.dropped", "{drop}",
		"Stashed properties that were malformed or beyond a limit and therefore dropped, whole annotations or single entries.",
		partAnnotation, partEntry)
	truncated = counter("conversion.bag.truncated", "{annotation}",
		"Representations of objects without their stashed properties, because these exceeded a limit.")
	large = counter("conversion.bag.large", "{annotation}",
		"Representations of objects whose stashed properties need more than 16 KiB, a quarter of the limit.")
	panics = counter("conversion.panics", "{panic}",
		"Panics during conversions that were turned into errors.")
)

func counter(name, unit, description string) *atomic.Int64 {
	return counters(name, unit, description, "")[""]
}

// counters are those of one metric, by the part that was dropped. They are shown from the start: an increase from nothing to 1 is
// none to those who look at rates.
func counters(name, unit, description string, parts ...string) map[string]*atomic.Int64 {
	all := make(map[string]*atomic.Int64, len(parts))
	for _, part := range parts {
		all[part] = &atomic.Int64{}
	}
	_, err := otel.Meter(scope).Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			for part, value := range all {
				var attributes []attribute.KeyValue
				if part != "" {
					attributes = append(attributes, partKey.String(part))
				}
				observer.Observe(value.Load(), metric.WithAttributes(attributes...))
			}
			return nil
		}))
	if err != nil {
		// Conversions work without being counted.
		otel.Handle(err)
	}
	return all
}

func count(c *atomic.Int64) { c.Add(1) }

func countDropped(part string) { count(dropped[part]) }
