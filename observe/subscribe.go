/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// Subscription is an observer that was added while the process runs. Use Subscribe.
type Subscription struct {
	hub *hub
	// declared is the definition of the observer.
	declared     any
	informer     *shared
	registration cache.ResourceEventHandlerRegistration
	at           station
	// release ends the use of the informer.
	release func()
}

// Subscribe calls a handler with the changes of a source, from now on until Stop or Shutdown, on this replica. ctx is the context of the process or
// of one of its controllers. First the handler receives the objects that exist.
func Subscribe[T Object](ctx context.Context, name string, source Source[T], handler Handler[T], options ...Options[T]) (_ *Subscription, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("observer %q: %w", name, err)
		}
	}()
	h, err := hubFrom(ctx)
	if err != nil {
		return nil, err
	}
	d, err := define(name, source, handler, options)
	if err != nil {
		return nil, err
	}
	if d.options.Scope == LeaderOnly {
		return nil, errors.New("Options.Scope: LeaderOnly is for observers that are registered, because processes elect leaders at their start")
	}
	d.options.Scope = EveryReplica
	if d.options.Inline {
		return d.subscribe(ctx, h, newInline(d.observer(ctx)))
	}
	q := newQueue(d.observer(ctx))
	q.start()
	return d.subscribe(ctx, h, q)
}

// HasSynced reports whether the observer has received the objects that existed when it subscribed, or has them in its queue.
func (s *Subscription) HasSynced() bool { return s.registration.HasSynced() }

// Stop ends the calls of the observer, and drops what is pending. It returns once no call is running and none will begin, or when ctx ends before,
// with an error that has the number of objects whose events were not delivered. An observer that stops itself waits for itself.
func (s *Subscription) Stop(ctx context.Context) error {
	defer s.release()
	err := s.informer.RemoveEventHandler(s.registration)
	s.at.stop()
	if reason := awaitDrained(ctx, s.at); reason != nil {
		return errors.Join(err, undelivered(s.at, reason))
	}
	s.hub.remove(s.declared)
	return errors.Join(err)
}
