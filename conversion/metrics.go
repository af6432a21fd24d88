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

// What of a bag was dropped, an attribute of the metric.
const (
	whatKey        = attribute.Key("what")
	whatAnnotation = "annotation"
	whatEntry      = "entry"
)

// Made before the process sets its provider of meters, these are shown when it does.
var (
	dropped = counters("conversion.bag.dropped", "{drop}",
		"Stashed properties that were malformed or beyond a limit and therefore dropped, whole annotations or single entries.",
		whatAnnotation, whatEntry)
	truncated = counter("conversion.bag.truncated", "{annotation}",
		"Representations of objects without their stashed properties, because these exceeded a limit.")
	large = counter("conversion.bag.large", "{annotation}",
		"Views of objects whose stashed properties need more than 16 KiB, a quarter of the limit.")
	panics = counter("conversion.panics", "{panic}",
		"Panics during conversions that were turned into errors.")
)

func counter(name, unit, description string) *atomic.Int64 {
	return counters(name, unit, description, "")[""]
}

// counters are those of one metric, by what was dropped. They are shown from the start: an increase from nothing to 1 is
// none to those who look at rates.
func counters(name, unit, description string, whats ...string) map[string]*atomic.Int64 {
	all := make(map[string]*atomic.Int64, len(whats))
	for _, what := range whats {
		all[what] = &atomic.Int64{}
	}
	_, err := otel.Meter(scope).Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(description),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			for what, value := range all {
				var attributes []attribute.KeyValue
				if what != "" {
					attributes = append(attributes, whatKey.String(what))
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

func countDropped(what string) { count(dropped[what]) }
