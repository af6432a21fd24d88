/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
)

// Subscription is an observer that was added while the process runs. Use Subscribe.
type Subscription struct {
	name         string
	informer     cache.SharedInformer
	registration cache.ResourceEventHandlerRegistration
	at           station
	// ended is closed once no worker runs.
	ended  chan struct{}
	cancel context.CancelFunc
	stop   func()
}

// Subscribe calls a handler with the changes of a source, from now on until Stop, on this replica. ctx is the context of the process or of
// one of its controllers. First the handler receives the objects that exist.
func Subscribe[T Object](ctx context.Context, name string, source Source[T], handler Handler[T], options ...Options[T]) (*Subscription, error) {
	h, err := hubFrom(ctx)
	if err != nil {
		return nil, fmt.Errorf("observer %q: %w", name, err)
	}
	d, err := define(name, source, handler, options)
	if err == nil && d.options.Scope == LeaderOnly {
		err = errors.New("Options.Scope: LeaderOnly is for observers that are registered, because processes elect leaders at their start")
	}
	if err != nil {
		return nil, fmt.Errorf("observer %q: %w", name, err)
	}
	d.options.Scope = EveryReplica

	ctx, cancel := context.WithCancel(ctx)
	s := &Subscription{name: name, ended: make(chan struct{}), cancel: cancel}
	informer, release, err := informerOf(ctx, h, source, name)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("observer %q: %w", name, err)
	}
	s.stop = sync.OnceFunc(release)
	var ok bool
	if s.informer, ok = informer.(cache.SharedInformer); !ok {
		cancel()
		return nil, fmt.Errorf("observer %q: the source %s is for Wire alone", name, source.name)
	}
	if d.options.Inline {
		s.at = newInline(d.observer(ctx))
		close(s.ended)
	} else {
		q := newQueue(d.observer(ctx))
		s.at = q
		go s.run(ctx, q.impl)
	}
	if s.registration, err = d.listen(s.informer, s.at); err != nil {
		cancel()
		s.stop()
		return nil, fmt.Errorf("observer %q: %w", name, err)
	}
	return s, nil
}

// run calls the observer until ctx ends.
func (s *Subscription) run(ctx context.Context, impl *controller.Impl) {
	defer close(s.ended)
	if err := impl.RunContext(ctx, impl.Concurrency); err != nil {
		logging.FromContext(ctx).Errorw("The workers of an observer failed", "observer", s.name, "error", err)
	}
}

// HasSynced reports whether the observer has received the objects that existed when it subscribed, or has them in its queue.
func (s *Subscription) HasSynced() bool { return s.registration.HasSynced() }

// Stop ends the calls of the observer. It returns once no call is running and none will begin, or with an error when ctx ends before. An observer
// that stops itself waits for itself.
func (s *Subscription) Stop(ctx context.Context) error {
	defer s.stop()
	return errors.Join(s.informer.RemoveEventHandler(s.registration), stopWithin(ctx, s.name, func() {
		s.at.stop()
		s.cancel()
		<-s.ended
	}))
}
