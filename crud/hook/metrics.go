/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	admissionv1 "k8s.io/api/admission/v1"
)

// Attributes of the metrics.
const (
	hookKey    = attribute.Key("hook")
	bindingKey = attribute.Key("binding")
	queueKey   = attribute.Key("queue")
	resultKey  = attribute.Key("result")
	reasonKey  = attribute.Key("reason")
)

var meter = otel.Meter("github.com/mallard-dev/mallard/crud/hook")

// instruments begin to record when the process sets the global provider.
type instruments struct {
	runs, errors, conflicts, rejections, reviews metric.Int64Counter
	duration, reviewDuration                     metric.Float64Histogram
}

// newInstruments ignores the errors, which would be about names and bounds: these are constants, and Options.completed checks the prefix.
func newInstruments(prefix string) *instruments {
	i := &instruments{}
	i.runs, _ = meter.Int64Counter(prefix+"hook.runs", metric.WithUnit("{run}"), metric.WithDescription("Runs of hooks, by the result."))
	i.errors, _ = meter.Int64Counter(prefix+"hook.run.errors", metric.WithUnit("{run}"), metric.WithDescription("Runs of hooks that failed."))
	i.conflicts, _ = meter.Int64Counter(prefix+"hook.run.conflicts", metric.WithUnit("{run}"),
		metric.WithDescription("Runs of hooks that are repeated because an object changed after the hook had decided."))
	i.duration, _ = meter.Float64Histogram(prefix+"hook.run.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of the runs of hooks, with their operations."),
		metric.WithExplicitBucketBoundaries(0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300))
	i.rejections, _ = meter.Int64Counter(prefix+"operations.file.rejected", metric.WithUnit("{file}"),
		metric.WithDescription("Plans of which no operation was executed, by the reason."))
	i.reviews, _ = meter.Int64Counter(prefix+"hook.reviews", metric.WithUnit("{review}"), metric.WithDescription("Admission reviews, by the result."))
	i.reviewDuration, _ = meter.Float64Histogram(prefix+"hook.review.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of the admission reviews, with the time in which they wait for others."),
		metric.WithExplicitBucketBoundaries(0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30))
	return i
}

// observeQueues exports the lengths of the queues while the process leads.
func observeQueues(r *runner) {
	lengths, _ := meter.Int64ObservableGauge(string(r.options.MetricPrefix)+"hook.queue.length", metric.WithUnit("{run}"),
		metric.WithDescription("Runs that wait in a queue, or are running."))
	// With a callback of the instrument, the first runner of a process would be the only one whose queues are observed.
	_, _ = meter.RegisterCallback(func(_ context.Context, observer metric.Observer) error {
		r.mu.Lock()
		t := r.term
		r.mu.Unlock()
		if t == nil || t.isOver() {
			return nil
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		for name, q := range t.queues {
			observer.ObserveInt64(lengths, int64(len(q.tasks)), metric.WithAttributes(queueKey.String(name)))
		}
		return nil
	}, lengths)
}

// attributes are those of the metrics of the binding with the first trigger of the task.
func (t *task) attributes(q *queue) metric.MeasurementOption {
	return metric.WithAttributes(hookKey.String(t.hook.name), bindingKey.String(t.triggers[0].common.Name), queueKey.String(q.name))
}

func (i *instruments) measure(due *task, q *queue, v verdict, took time.Duration) {
	ctx, attributes, result := context.Background(), due.attributes(q), metric.WithAttributes(resultKey.String(string(v)))
	i.runs.Add(ctx, 1, attributes, result)
	i.duration.Record(ctx, took.Seconds(), attributes, result)
	// A rate is known from the first failure on only if there was a zero before.
	i.errors.Add(ctx, 0, attributes)
	i.conflicts.Add(ctx, 0, attributes)
	for _, reason := range []string{"file", "syntax", "metrics", "namespace", "preflight"} {
		i.rejections.Add(ctx, 0, metric.WithAttributes(hookKey.String(due.hook.name), reasonKey.String(reason)))
	}
}

// countRejection counts a plan of which no operation was executed, if there is a reason: that of a rejection, or another one.
func (i *instruments) countRejection(hook string, err error, reason string) {
	if rejected, ok := errors.AsType[*rejection](err); ok {
		reason = rejected.reason
	}
	if reason != "" {
		i.rejections.Add(context.Background(), 1, metric.WithAttributes(hookKey.String(hook), reasonKey.String(reason)))
	}
}

// measureReview counts a review. It has no response if the hook did not answer.
func (i *instruments) measureReview(r *Review, response *admissionv1.AdmissionResponse, took time.Duration) {
	result := "error"
	if response != nil && response.Allowed {
		result = "allowed"
	} else if response != nil {
		result = "denied"
	}
	attributes := metric.WithAttributes(hookKey.String(r.hook.name), bindingKey.String(r.Name), resultKey.String(result))
	i.reviews.Add(context.Background(), 1, attributes)
	i.reviewDuration.Record(context.Background(), took.Seconds(), attributes)
}

// MetricPrefix begins the names of metrics.
type MetricPrefix string

// Decode implements envconfig.Decoder.
func (p *MetricPrefix) Decode(value string) error {
	if value != "" && !metricNames.MatchString(value) {
		return errors.New("must be up to 200 letters, digits and underscores, and begin with a letter")
	}
	*p = MetricPrefix(value)
	return nil
}
