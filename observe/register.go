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

var registry struct {
	sync.Mutex

	definitions []definition
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
		return nil, errors.New("Options.Resync: the informer that injection runs has a period of its own; use Selected")
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
	s := &Subscription{hub: h, declared: d, informer: informer, at: at, release: sync.OnceFunc(func() { h.release(informer, d.id) })}
	h.add(d, at)
	if s.registration, err = d.listen(informer, at); err != nil {
		h.remove(d)
		at.stop()
		s.release()
		return nil, fmt.Errorf("observing its source: %w", err)
	}
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
