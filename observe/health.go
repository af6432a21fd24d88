/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/logging"
)

// health is what has failed of a source that injection does not run.
type health struct {
	mu sync.Mutex
	// err is the last failure of a list or of a watch that could not be opened, and version what the informer had received by then.
	err     error
	version string
	since   time.Time
}

// failed records why a list failed, or why a watch could not be opened. It implements cache.WatchErrorHandlerWithContext.
func (s *shared) failed(ctx context.Context, reflector *cache.Reflector, err error) {
	s.health.mu.Lock()
	version := reflector.LastSyncResourceVersion()
	if s.health.err == nil || s.health.version != version {
		s.health.since = time.Now()
	}
	s.health.err, s.health.version = err, version
	s.health.mu.Unlock()
	cache.DefaultWatchErrorHandler(ctx, reflector, err)
}

// check returns the last failure until the informer has received something since.
func (s *shared) check() error {
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	if s.health.err != nil && s.LastSyncResourceVersion() != s.health.version {
		s.health.err = nil
	}
	if s.health.err == nil {
		return nil
	}
	return fmt.Errorf("the source of %s fails since %s: %w", strings.Join(s.users, ", "), s.health.since.Format(time.RFC3339), s.health.err)
}

// Health returns an error for each source that cannot be listed or watched, with the names of its observers and since when, until the source has
// received something again, at most a minute later. It is for the probes and the log of a process; informers retry by themselves. ctx is the
// context of the process. Sources that injection runs are not included.
func Health(ctx context.Context) error {
	h, err := hubFrom(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var failures []error
	for _, s := range h.informers {
		failures = append(failures, s.check())
	}
	return errors.Join(failures...)
}

// lost logs and counts the changes that are lost because the transform of a source fails.
type lost struct {
	ctx      context.Context //nolint:containedctx // The context of the process: an informer calls a transform without one.
	source   string
	failures metric.Int64Counter
	own      metric.MeasurementOption
}

func newLost(ctx context.Context, source string) *lost {
	// The error is about the name, which is constant. The counter works in any case.
	failures, _ := otel.Meter(scope).Int64Counter("observer.transform.errors", metric.WithUnit("{object}"),
		metric.WithDescription("Changes that were lost because the transform of a source failed."))
	l := &lost{ctx: ctx, source: source, failures: failures, own: metric.WithAttributes(sourceAttribute.String(source))}
	// A rate is known from the first failure on only if there was a zero before.
	l.failures.Add(context.Background(), 0, l.own)
	return l
}

func (l *lost) report(obj any, err error) error {
	key := fmt.Sprintf("%T", obj)
	if object, ok := obj.(metav1.Object); ok {
		key = cache.MetaObjectToName(object).String()
	}
	l.failures.Add(context.Background(), 1, l.own)
	logging.FromContext(l.ctx).Errorw("The transform of a source failed, so that a change of an object is lost until the next list", "source", l.source,
		"key", key, "error", err)
	return fmt.Errorf("transforming %s of %s: %w", key, l.source, err)
}
