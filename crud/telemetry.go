/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/confidential"
)

const scope = "github.com/mallard-dev/mallard/crud"

// No attribute has the name of an object, of which there may be many; spans have it. The instruments begin to record when the process sets the global
// provider. The errors would be about names and bounds, which are constants.
var (
	meter = otel.Meter(scope)

	executed, _ = meter.Int64Counter("object.operations", metric.WithUnit("{operation}"),
		metric.WithDescription("Operations on objects by how they ended."))
	duration, _ = meter.Float64Histogram("object.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of operations on objects, with their retries and waits."),
		metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60))
	retries, _ = meter.Int64Counter("object.operation.retries", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts of operations on objects after the first, by the class of the error."))
	writeFights, _ = meter.Int64Counter("object.write.fights", metric.WithUnit("{write}"),
		metric.WithDescription("Writes that were delayed because another writer undoes them."))
)

// ofKind are the attributes of the kind, which are empty until the API server has confirmed it.
func (c *call) ofKind() []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("group", c.kind.Group), attribute.String("kind", c.kind.Kind)}
}

// begin makes the span of the operation. end must be called with the error of the operation, and measures it. Dry runs are not counted.
func (c *call) begin(ctx context.Context) (_ context.Context, end func(error)) {
	ctx, span := otel.Tracer(scope).Start(ctx, string(c.op.Type)) //nolint:spancheck // the caller ends it
	start := time.Now()
	return ctx, func(err error) { //nolint:spancheck // as above
		outcome := attribute.String("outcome", string(c.result.Outcome))
		span.SetName(string(c.op.Type) + " " + c.op.Kind)
		span.SetAttributes(attribute.String("crud.group", c.kind.Group), attribute.String("crud.kind", c.op.Kind),
			attribute.String("crud.namespace", c.op.Namespace), attribute.String("crud.name", c.op.Name),
			attribute.String("crud.outcome", string(c.result.Outcome)), attribute.Bool("crud.dry_run", c.options.DryRun))
		endSpan(span, err)
		if c.options.DryRun {
			return
		}
		operation, subresource := attribute.String("operation", string(c.op.Type)), ""
		if c.op.StatusPatch {
			subresource = "status"
		}
		executed.Add(ctx, 1, metric.WithAttributes(append(c.ofKind(), operation, outcome,
			attribute.String("subresource", subresource), attribute.String("error_class", string(ClassOf(err))))...))
		duration.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(operation, outcome))
	}
}

func (c *call) retrying(ctx context.Context, class Class) {
	trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(attribute.String("crud.error_class", string(class))))
	if !c.options.DryRun {
		retries.Add(ctx, 1, metric.WithAttributes(attribute.String("operation", string(c.op.Type)), attribute.String("error_class", string(class))))
	}
}

// request sends a request with an object or a patch, which the error describes, and makes a span of it. Each answer about the object of the operation
// passes it.
func (c *call) request(
	ctx context.Context, method, doing string, sent any, send func(context.Context) (*unstructured.Unstructured, error),
) (*unstructured.Unstructured, error) {
	ctx, span := otel.Tracer(scope).Start(ctx, method, trace.WithSpanKind(trace.SpanKindClient))
	var warnings []string
	object, err := send(context.WithValue(ctx, warningsKey{}, &warnings))
	err = ofRequest(method != http.MethodGet && !c.options.DryRun, err)
	if c.isConfidential() {
		if err != nil {
			err = ClassOf(err).of(confidential.Answer(err, c.misfits(sent)...))
		}
		for i, text := range warnings {
			warnings[i] = confidential.Warning(text)
		}
	}
	c.result.Warnings = append(c.result.Warnings, warnings...)
	if err == nil && object != nil {
		c.result.Object = object
		span.SetAttributes(attribute.String("crud.resource_version", object.GetResourceVersion()))
	}
	if endSpan(span, err); err != nil {
		return nil, fmt.Errorf("%s the object: %w", doing, err)
	}
	return object, nil
}

// endSpan sets the class of an error alone: its text may have a value that the same plan writes into a Secret.
func endSpan(span trace.Span, err error) {
	if err != nil {
		class := string(ClassOf(err))
		span.SetAttributes(attribute.String("crud.error_class", class))
		span.SetStatus(codes.Error, class)
	}
	span.End()
}
