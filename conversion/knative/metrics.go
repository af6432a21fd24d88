/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package knative

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mallard-dev/mallard/conversion"
)

// scope is the instrumentation scope of the metrics: the package that counts.
const scope = "github.com/mallard-dev/mallard/conversion"

// Instruments that are created before the process sets its meter provider report once it does, so importing the package is enough.
func init() {
	for _, counter := range conversion.Counters() {
		_, err := otel.Meter(scope).Int64ObservableCounter(counter.Name, metric.WithUnit(counter.Unit), metric.WithDescription(counter.Description),
			metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
				for part, count := range counter.Counts() {
					var attributes []attribute.KeyValue
					if part != "" {
						attributes = append(attributes, attribute.String(conversion.PartLabel, part))
					}
					observer.Observe(count, metric.WithAttributes(attributes...))
				}
				return nil
			}))
		if err != nil {
			otel.Handle(fmt.Errorf("creating the counter %s: %w", counter.Name, err)) // conversions work without their metrics
		}
	}
}
