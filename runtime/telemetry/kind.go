/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap/zapcore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/runtime/failures"
)

// Kind measures the reconciler of one kind. Use NewKind.
type Kind struct{ name string }

// NewKind returns the telemetry of the reconciler of a kind, or of another controller with that name.
func NewKind(name string) *Kind {
	k := &Kind{name: name}
	for _, result := range results {
		// A rate is known from the first failure on only if there was a zero before.
		reconciliations.Add(context.Background(), 0, k.attributes(attribute.String("result", string(result))))
	}
	return k
}

func (k *Kind) attributes(more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(append(more, attribute.String("kind", k.name))...)
}

// Begin is called when a reconciliation begins, and returns its context. causes describe why it takes place, and is called only if the causes are
// exported. end must be called with the result before the queue gets it.
func (k *Kind) Begin(ctx context.Context, key string, causes func() []string) (_ context.Context, end func(error) Result) {
	ctx, span := otel.Tracer(scope).Start(ctx, "Reconcile "+k.name, trace.WithAttributes(
		attribute.String("reconcile.kind", k.name),
		attribute.String("reconcile.key", key),
	))
	logger := logging.FromContext(ctx)
	if span.IsRecording() {
		span.SetAttributes(attribute.StringSlice("reconcile.causes", causes()))
		logger = logger.With("trace_id", span.SpanContext().TraceID().String())
		ctx = logging.WithLogger(ctx, logger)
	}
	if logger.Level() <= zapcore.DebugLevel {
		logger.Debugw("Reconcile begins", "causes", causes())
	}
	active.Add(ctx, 1, k.attributes())
	start := time.Now()
	return ctx, func(err error) Result {
		defer span.End()
		result := ResultOf(err)
		attributes := k.attributes(attribute.String("result", string(result)))
		active.Add(ctx, -1, k.attributes())
		reconciliations.Add(ctx, 1, attributes)
		duration.Record(ctx, time.Since(start).Seconds(), attributes)
		span.SetAttributes(attribute.String("reconcile.result", string(result)))
		if result == ResultError || result == ResultPermanentError {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
			if failures.IsRetry(err) {
				// controller.Impl logs other errors, and a requeue at debug level only.
				logger.Errorw("Reconcile error", "error", err)
			}
		}
		return result
	}
}

// Triggered counts an event that enqueued an object. Each cause and source is a series, so there must be few.
func (k *Kind) Triggered(cause, source string) {
	triggers.Add(context.Background(), 1, k.attributes(attribute.String("cause", cause), attribute.String("source", source)))
}

// Leads records whether this process leads a bucket.
func (k *Kind) Leads(b reconciler.Bucket, leads bool) {
	lease := cmp.Or(b.Name(), "none") // without leader election there is one bucket, which has no name
	leading.Record(context.Background(), number(leads), k.attributes(attribute.String("lease", lease)))
}

// Result classifies the end of a reconciliation as the queue of its controller does.
type Result string

// The results are a label of metrics; docs/reference/metrics.md describes them.
const (
	ResultSuccess        Result = "success"
	ResultSkip           Result = "skip"
	ResultRequeue        Result = "requeue"
	ResultConflict       Result = "conflict"
	ResultError          Result = "error"
	ResultPermanentError Result = "permanent_error"
)

var results = []Result{ResultSuccess, ResultSkip, ResultRequeue, ResultConflict, ResultError, ResultPermanentError}

// ResultOf classifies in the order in which controller.Impl does, except that a failure that package failures requeues is a failure.
func ResultOf(err error) Result {
	if err == nil {
		// The other checks allocate.
		return ResultSuccess
	}
	requeue, _ := controller.IsRequeueKey(err)
	switch {
	case controller.IsSkipKey(err):
		return ResultSkip
	case requeue && !failures.IsRetry(err):
		return ResultRequeue
	case apierrors.IsConflict(err):
		return ResultConflict
	case controller.IsPermanentError(err):
		return ResultPermanentError
	case failures.IsRetry(err) && failures.Expected(err):
		return ResultRequeue
	default:
		return ResultError
	}
}
