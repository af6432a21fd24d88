/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/runtime/backlog"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/tracker"
)

// Instrument wraps impl.Reconciler, so it comes after whatever else does, and replaces
// impl.Tracker unless ctx has one. kind is what it reconciles. It has to be called before anything runs.
//
// The wrapper is leader-aware if the reconciler is. What else a reconciler is, such as a webhook, must be served before.
func Instrument(ctx context.Context, impl *controller.Impl, kind string) *Wakes {
	instruments, err := newInstruments()
	if err != nil {
		// Names and bounds are constants, so that every test would see it.
		panic(fmt.Errorf("making the instruments of %s: %w", kind, err))
	}
	w := &Wakes{impl: impl, kind: kind, memory: newMemory(maxKeys, maxCauses), backlog: backlog.New(impl), instruments: instruments}
	for _, result := range results {
		// A rate is known from the first failure on only if there was a zero before.
		w.passes.Add(ctx, 0, metric.WithAttributes(kindKey.String(kind), resultKey.String(string(result))))
	}
	if controller.GetTracker(ctx) == nil {
		w.tracker = tracker.New(func(key types.NamespacedName) {
			w.note(key, Cause{What: Tracked})
			impl.EnqueueKey(key)
		})
		impl.Tracker = w.tracker
	}
	impl.Reconciler = w.wrap(impl.Reconciler)
	return w
}

// Complete instruments a controller under the name of its queue, unless its constructor did so itself.
func Complete(ctx context.Context, impl *controller.Impl) {
	if _, ok := impl.Reconciler.(interface{ instrumented() }); !ok {
		Instrument(ctx, impl, impl.Name)
	}
}

// observed is a reconciler that is watched.
type observed struct {
	inner controller.Reconciler
	wakes *Wakes
}

// instrumented marks every wrapper.
func (*observed) instrumented() {}

func (w *Wakes) wrap(inner controller.Reconciler) controller.Reconciler {
	o := &observed{inner: inner, wakes: w}
	leader, ok := inner.(reconciler.LeaderAware)
	if !ok {
		return o
	}
	return &observedLeader{observed: o, leader: leader}
}

// Reconcile implements controller.Reconciler.
func (o *observed) Reconcile(ctx context.Context, key string) error {
	w := o.wakes
	defer o.Feed()
	object, err := cache.ParseObjectName(key)
	if err != nil {
		return fmt.Errorf("reading the key: %w", err)
	}
	name := object.AsNamespacedName()
	why := w.memory.take(name)
	if why.causes[0].cause.What == Other {
		w.count(why.causes[0].cause)
	}

	ctx, span := otel.Tracer(scope).Start(ctx, "Reconcile "+w.kind, trace.WithAttributes(
		attribute.String("reconcile.kind", w.kind),
		attribute.String("reconcile.key", key),
	))
	defer span.End()
	logger := logging.FromContext(ctx)
	if span.IsRecording() {
		span.SetAttributes(attribute.StringSlice("reconcile.causes", why.strings()))
		logger = logger.With("trace_id", span.SpanContext().TraceID().String())
		ctx = logging.WithLogger(ctx, logger)
	}
	if logger.Level() <= zapcore.DebugLevel {
		logger.Debugw("Reconcile begins", "causes", why.strings())
	}

	kind := metric.WithAttributes(kindKey.String(w.kind))
	w.active.Add(ctx, 1, kind)
	defer w.active.Add(ctx, -1, kind)
	start := time.Now()
	if w.tracker != nil {
		w.tracker.Begin(name)
		defer func() { w.tracker.End(name, err) }()
	}
	err = o.inner.Reconcile(ctx, key)
	o.ended(ctx, span, name, time.Since(start), err)
	return err
}

// Feed is called by whatever takes a key from the queue and does not reconcile it.
func (o *observed) Feed() { o.wakes.backlog.Feed() }

// ended tells how a pass ended. It runs before the queue learns of it.
func (o *observed) ended(ctx context.Context, span trace.Span, key types.NamespacedName, took time.Duration, err error) {
	w, result := o.wakes, resultOf(err)
	attributes := metric.WithAttributes(kindKey.String(w.kind), resultKey.String(string(result)))
	w.passes.Add(ctx, 1, attributes)
	w.duration.Record(ctx, took.Seconds(), attributes)
	span.SetAttributes(attribute.String("reconcile.result", string(result)))
	if result.failed() {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
		if failures.IsRetry(err) {
			// controller.Impl logs other errors, and a requeue at debug level only.
			logging.FromContext(ctx).Errorw("Reconcile error", "error", err)
		}
	}
	if cause, ok := result.next(); ok {
		w.memory.plan(key, cause)
		w.count(cause)
	}
}

// observedLeader is an observed reconciler that is leader-aware.
type observedLeader struct {
	*observed

	leader reconciler.LeaderAware
}

var _ reconciler.LeaderAware = (*observedLeader)(nil)

// Promote implements reconciler.LeaderAware. The keys of the bucket are enqueued once the queue is short, instead of in the slow
// lane, where enqueue adds them.
func (l *observedLeader) Promote(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
	l.lead(b, 1)
	if enqueue == nil {
		return l.leader.Promote(b, nil) //nolint:wrapcheck // it is the reconciler's own verdict
	}
	return l.leader.Promote(b, func(b reconciler.Bucket, key types.NamespacedName) { //nolint:wrapcheck // as above
		if b.Has(key) {
			l.wakes.enqueueLater(key, Cause{What: Promoted})
		}
	})
}

// Demote implements reconciler.LeaderAware.
func (l *observedLeader) Demote(b reconciler.Bucket) {
	l.lead(b, 0)
	l.wakes.backlog.Drop(b.Has)
	l.leader.Demote(b)
}

func (l *observedLeader) lead(b reconciler.Bucket, held int64) {
	lease := b.Name()
	if lease == "" {
		// Without leader election there is one bucket, which has no name.
		lease = "none"
	}
	l.wakes.leading.Record(context.Background(), held, metric.WithAttributes(kindKey.String(l.wakes.kind), leaseKey.String(lease)))
}
