/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

// scope is the instrumentation scope of the meter of this package.
const scope = "github.com/mallard-dev/mallard/pkg/conversion"

// What of a bag was dropped, an attribute of the metric.
const (
	whatKey        = attribute.Key("what")
	whatAnnotation = "annotation"
	whatEntry      = "entry"
)

// Made before the process sets its provider of meters, these begin to count when it does.
var (
	dropped = counter("conversion.bag.dropped", "{drop}",
		"Stashed properties that were malformed or beyond a limit and therefore dropped, whole annotations or single entries.")
	truncated = counter("conversion.bag.truncated", "{annotation}",
		"Views of objects whose stashed properties were beyond a limit and therefore left out.")
	large = counter("conversion.bag.large", "{annotation}",
		"Views of objects whose stashed properties need more than 16 KiB, a quarter of the limit.")
	panics = counter("conversion.panics", "{panic}",
		"Panics during conversions that were turned into errors.")
)

func counter(name, unit, description string) metric.Int64Counter {
	c, err := otel.Meter(scope).Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	if err != nil {
		// Conversions work without being counted.
		otel.Handle(err)
		return noop.Int64Counter{}
	}
	return c
}

// Conversions are pure functions without a context, which counters need only for exemplars.
func count(c metric.Int64Counter, attributes ...attribute.KeyValue) {
	c.Add(context.Background(), 1, metric.WithAttributes(attributes...))
}

func countDropped(what string) { count(dropped, whatKey.String(what)) }
