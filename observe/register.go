/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
)

// definition is an observer that is registered, of any type of object.
type definition interface {
	name() string
	// constructor returns that of its controller, or nil for an observer that is Inline.
	constructor() injection.ControllerConstructor
	// start delivers to an observer that is Inline. The constructor has done so for others.
	start(h *hub) error
}

type definitionOf[T Object] struct {
	id      string
	source  Source[T]
	handler Handler[T]
	options Options[T]
}

// registry holds the observers that a program registers, and the hubs of its processes; only tests have several hubs.
var registry struct {
	sync.Mutex

	definitions []definition
	hubs        []*hub
}

func registered() []definition {
	registry.Lock()
	defer registry.Unlock()
	return slices.Clone(registry.definitions)
}

// Register has every process that imports the package call a handler with the changes of a source. It is called by init functions. name is that
// of the work queue and in metrics and logs. Register panics if the name is registered, or if the options or the source are invalid.
func Register[T Object](name string, source Source[T], handler Handler[T], options ...Options[T]) {
	d, err := define(name, source, handler, options)
	registry.Lock()
	defer registry.Unlock()
	if slices.ContainsFunc(registry.definitions, func(other definition) bool { return other.name() == name }) {
		err = errors.New("there is another observer with this name")
	}
	if err != nil {
		panic(fmt.Sprintf("observe.Register(%q): %v", name, err))
	}
	registry.definitions = append(registry.definitions, d)
}

var errNoSource = errors.New("the source must be made by a function of this package")

func define[T Object](name string, source Source[T], handler Handler[T], options []Options[T]) (*definitionOf[T], error) {
	d := &definitionOf[T]{id: name, source: source, handler: handler}
	if len(options) > 0 {
		d.options = options[0]
	}
	switch {
	case name == "":
		return nil, errors.New("the name must not be empty")
	case handler == nil:
		return nil, errors.New("the handler must not be nil")
	case len(options) > 1:
		return nil, fmt.Errorf("there must be at most one Options, not %d", len(options))
	case source.source == nil:
		return nil, errNoSource
	case source.build == nil && d.options.Resync > 0:
		return nil, errors.New("Options.Resync: the informer that injection runs has its own period; use Selected")
	}
	err := errors.Join(source.err, d.options.check())
	d.options.Workers = max(d.options.Workers, 1)
	return d, err
}

// Constructors returns a constructor for the controller of each queued observer that is registered. Every main passes them on, so that an
// observer needs nothing but an import.
func Constructors() []injection.ControllerConstructor {
	var constructors []injection.ControllerConstructor
	for _, d := range registered() {
		if c := d.constructor(); c != nil {
			constructors = append(constructors, c)
		}
	}
	return constructors
}

// Subscription is an observer that was added while the process runs. Use Subscribe.
type Subscription struct {
	informer     *shared
	registration cache.ResourceEventHandlerRegistration
	at           station
	// release ends the use of the informer. Shutdown and Pending ignore the observer after forget.
	release, forget func()
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
	s.forget()
	return errors.Join(err)
}

func (d *definitionOf[T]) name() string { return d.id }

func (d *definitionOf[T]) observer(ctx context.Context) *observer[T] {
	return &observer[T]{definitionOf: d, metrics: newMetrics(d.id), ctx: ctx}
}

func (d *definitionOf[T]) constructor() injection.ControllerConstructor {
	if d.options.Inline {
		return nil
	}
	return func(ctx context.Context, _ configmap.Watcher) *controller.Impl {
		q := newQueue(d.observer(ctx))
		impl := controllerOf(q)
		h, err := hubFrom(ctx)
		if err == nil {
			err = d.connect(ctx, h, q)
		}
		if err != nil {
			panic(fmt.Sprintf("observer %q: %v", d.id, err))
		}
		return impl
	}
}

func (d *definitionOf[T]) start(h *hub) error {
	if d.options.Inline {
		return d.connect(h.ctx, h, newInline(d.observer(h.ctx)))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stations[d] == nil {
		return errors.New("it has no controller: main must pass observe.Constructors() to the process")
	}
	return nil
}

// connect delivers to an observer whose initial list the start of the process waits for.
func (d *definitionOf[T]) connect(ctx context.Context, h *hub, at station) error {
	s, err := d.subscribe(ctx, h, at)
	if err == nil {
		h.await(d.id, s.informer, s.HasSynced)
	}
	return err
}

// subscribe delivers the notifications of the source from now on.
func (d *definitionOf[T]) subscribe(ctx context.Context, h *hub, at station) (*Subscription, error) {
	informer, err := h.informerOf(ctx, d.source.source, d.id)
	if err != nil {
		at.stop()
		return nil, err
	}
	s := &Subscription{informer: informer, at: at, release: sync.OnceFunc(func() { h.release(informer, d.id) }), forget: func() { h.remove(d) }}
	if s.registration, err = d.listen(informer, at); err != nil {
		at.stop()
		s.release()
		return nil, fmt.Errorf("observing its source: %w", err)
	}
	h.add(d, at)
	return s, nil
}

// listen adds a station to an informer.
func (d *definitionOf[T]) listen(informer cache.SharedIndexInformer, at station) (cache.ResourceEventHandlerRegistration, error) {
	if q, ok := at.(*queue[T]); ok {
		// A promotion reads the cache either before both, or after both.
		q.mu.Lock()
		defer q.mu.Unlock()
		q.objects = informer.GetStore()
	}
	return informer.AddEventHandlerWithOptions(at, cache.HandlerOptions{ResyncPeriod: &d.options.Resync}) //nolint:wrapcheck // the caller does
}
