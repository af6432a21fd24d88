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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// health is what has failed of a source that injection does not run.
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
func (s *shared) failed(ctx context.Context, reflector *cache.Reflector, err error) {
	s.health.mu.Lock()
	s.health.record(reflector.LastSyncResourceVersion(), err)
	s.health.mu.Unlock()
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
	// tooManyWatches is how many requests for a watch, each soon after the one before, are a failure if they deliver nothing. After an interruption
	// there are two.
	tooManyWatches = 3
	// soon is longer than the back-off of client-go, and shorter than a watch without an event.
	soon = 2 * time.Minute
)

var errNothing = errors.New("its watch is opened again and again, and delivers nothing")

// requested counts requests for a watch: client-go repeats one whose connection is refused, or that is answered with 429, without calling failed.
func (s *shared) requested(options *metav1.ListOptions) {
	if !options.AllowWatchBookmarks {
		// It is a list.
		return
	}
	s.health.mu.Lock()
	defer s.health.mu.Unlock()
	h, version := &s.health, s.LastSyncResourceVersion()
	if h.from != version || time.Since(h.sent) > soon {
		h.watches = 0
	}
	h.watches, h.from, h.sent = h.watches+1, version, time.Now()
	if h.watches >= tooManyWatches && (h.err == nil || h.version != version) {
		h.record(version, errNothing)
	}
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
	for _, s := range h.informers {
		failures = append(failures, s.check())
	}
	return errors.Join(failures...)
}
