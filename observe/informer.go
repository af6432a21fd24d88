/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/logging"
)

// shared is an informer that several sources and observers use. The lock of the hub guards what changes, except its health.
type shared struct {
	cache.SharedIndexInformer

	// transform identifies that of the informer, if it has one.
	transform unsafe.Pointer
	// end ends the informer. It is nil if injection runs it.
	end    context.CancelFunc
	users  []string
	health health
}

// informerOf returns the informer of a source for a user, which may release it. The first user starts it, unless injection does. ctx is that of the
// process, or of one of its controllers.
func (h *hub) informerOf(ctx context.Context, s *source, user string) (*shared, error) {
	if s.err != nil {
		return nil, s.err
	}
	key := s.key.in(h.ctx)
	if s.injected != nil {
		key.kind = s.injected(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i, isKnown := h.informers[key]
	if !isKnown {
		var err error
		if i, err = newShared(h.ctx, s, key); err != nil {
			return nil, fmt.Errorf("making an informer: %w", err)
		}
	}
	if err := h.setTransform(i, s); err != nil {
		return nil, err
	}
	if !isKnown {
		h.informers[key] = i
		if s.build != nil {
			running, end := context.WithCancel(h.ctx)
			i.end = end
			go i.RunWithContext(running)
		}
	}
	i.users = append(i.users, user)
	return i, nil
}

func newShared(ctx context.Context, s *source, key sourceKey) (*shared, error) {
	i := &shared{}
	if informer, ok := key.kind.(cache.SharedIndexInformer); ok {
		i.SharedIndexInformer = informer
		return i, nil
	}
	informer, err := s.build(ctx, key, func(options *metav1.ListOptions) {
		key.tweak(options)
		i.requested(options)
	})
	if err != nil {
		return nil, err
	}
	i.SharedIndexInformer = informer
	return i, informer.SetWatchErrorHandlerWithContext(i.failed) //nolint:wrapcheck // the caller does
}

// setTransform sets the transform of a source, unless the informer has it.
func (h *hub) setTransform(i *shared, s *source) error {
	switch {
	case s.transform == nil || i.transform == identity(s.transform):
		return nil
	case i.transform != nil:
		return fmt.Errorf("the source %s has another Transform than one before it, with which it shares a watch: namespace %q, labels %q, fields %q",
			s.name, s.key.namespace, s.key.labels, s.key.fields)
	case s.injected != nil && h.started.Load():
		return fmt.Errorf("the Transform of %s has to be set before the informers start, by a registered observer that is queued", s.name)
	}
	if err := i.SetTransform(reporting(h.ctx, s.name, s.transform)); err != nil {
		return fmt.Errorf("setting the transform of %s: %w", s.name, err)
	}
	i.transform = identity(s.transform)
	return nil
}

// reporting returns a transform that logs and counts failures. An object whose transform fails is cached as it is: client-go would drop its change,
// would not accept a list that has it, and would take it for deleted if the list is streamed.
func reporting(ctx context.Context, source string, transform cache.TransformFunc) cache.TransformFunc {
	own := metric.WithAttributes(attribute.String("source", source))
	// As in newMetrics.
	transformErrors.Add(context.Background(), 0, own)
	return func(obj any) (any, error) {
		transformed, err := transform(obj)
		if err == nil {
			return transformed, nil
		}
		key := fmt.Sprintf("%T", obj)
		if object, ok := obj.(metav1.Object); ok {
			key = cache.MetaObjectToName(object).String()
		}
		transformErrors.Add(context.Background(), 1, own)
		logging.FromContext(ctx).Errorw("The transform of a source failed, so that an object is cached as it is", "source", source, "key", key, "error", err)
		return obj, nil
	}
}

// release ends an informer that has no user any more, unless injection runs it.
func (h *hub) release(i *shared, user string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := slices.Index(i.users, user); at >= 0 {
		i.users = slices.Delete(i.users, at, at+1)
	}
	if len(i.users) > 0 || i.end == nil {
		return
	}
	i.end()
	maps.DeleteFunc(h.informers, func(_ sourceKey, other *shared) bool { return other == i })
}

// health holds the failures of a source that injection does not run.
type health struct {
	mu sync.Mutex
	// err is the last failure, and version what the informer had received by then.
	err     error
	version string
	since   time.Time
	// watches is the number of requests for a watch since a version, of which the last was sent at a time.
	watches int
	from    string
	sent    time.Time
}

// failed records why a list failed, or why a watch could not be opened. It implements cache.WatchErrorHandlerWithContext.
func (i *shared) failed(ctx context.Context, reflector *cache.Reflector, err error) {
	i.health.mu.Lock()
	i.health.record(reflector.LastSyncResourceVersion(), err)
	i.health.mu.Unlock()
	cache.DefaultWatchErrorHandler(ctx, reflector, err)
}

// record takes a failure. It is called with the lock.
func (h *health) record(version string, err error) {
	if h.err == nil || h.version != version {
		h.since = time.Now()
	}
	h.err, h.version = err, version
}

const (
	// tooManyWatches is the number of watch requests in quick succession that count as a failure if they deliver nothing. After an interruption
	// there are two.
	tooManyWatches = 3
	// soon is longer than the back-off of client-go, and shorter than a watch without an event.
	soon = 2 * time.Minute
)

var errNothing = errors.New("its watch is opened again and again, and delivers nothing")

// requested counts requests for a watch: client-go repeats one whose connection is refused, or that is answered with 429, without calling failed.
func (i *shared) requested(options *metav1.ListOptions) {
	if !options.AllowWatchBookmarks {
		// It is a list.
		return
	}
	i.health.mu.Lock()
	defer i.health.mu.Unlock()
	h, version := &i.health, i.LastSyncResourceVersion()
	if h.from != version || time.Since(h.sent) > soon {
		h.watches = 0
	}
	h.watches, h.from, h.sent = h.watches+1, version, time.Now()
	if h.watches >= tooManyWatches && (h.err == nil || h.version != version) {
		h.record(version, errNothing)
	}
}

// check returns the last failure until the informer has received something since.
func (i *shared) check() error {
	i.health.mu.Lock()
	defer i.health.mu.Unlock()
	if i.health.err != nil && i.LastSyncResourceVersion() != i.health.version {
		i.health.err = nil
	}
	if i.health.err == nil {
		return nil
	}
	return fmt.Errorf("the source of %s fails since %s: %w", strings.Join(i.users, ", "), i.health.since.Format(time.RFC3339), i.health.err)
}

// Health returns an error for each source that cannot be listed or watched, with the names of its observers and since when, until the source has
// received something again: an event, a list, or a bookmark, which an API server sends about once a minute. It is for the probes and the log of a
// process; informers retry by themselves. ctx is the context of the process. Sources that injection runs are not included.
func Health(ctx context.Context) error {
	h, err := hubFrom(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var failures []error
	for _, i := range h.informers {
		failures = append(failures, i.check())
	}
	return errors.Join(failures...)
}
