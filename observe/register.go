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
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
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

// registry holds the observers that a program registers.
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
// of the controller, and in leases, metrics and logs. Register panics if it is no DNS name or is registered, or if the options or the source are invalid.
func Register[T Object](name string, source Source[T], handler Handler[T], options ...Options[T]) {
	d, err := define(name, source, handler, options)
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		err = errors.Join(err, fmt.Errorf("the name is part of those of leases: %s", problems[0]))
	}
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
		return nil, errors.New("the source must be made by a function of this package")
	}
	err := errors.Join(source.err, d.options.check())
	if source.injected != nil && d.options.Inline && d.options.Resync > 0 {
		err = errors.Join(err, errors.New("Options.Resync: of an Injected source, it is for queued observers"))
	}
	d.options.Workers = max(d.options.Workers, 1)
	return d, err
}

// Constructors returns a constructor for the controller of each queued observer that is registered. A main passes them to sharedmain. Nothing else has
// to be called: the controllers deliver while the process runs and, if they are LeaderOnly, while it leads.
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
	// release ends the use of the informer.
	release func()
}

// Subscribe calls a handler with the changes of a source, from now on until Stop or the end of the process, on this replica. ctx is the context of the
// process or of one of its controllers. First the handler receives the objects that exist.
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
	switch {
	case d.options.Scope == LeaderOnly:
		return nil, errors.New("Options.Scope: LeaderOnly is for observers that are registered, because processes elect leaders at their start")
	case source.injected != nil && d.options.Resync > 0:
		return nil, errors.New("Options.Resync: an informer that injection runs has one period for those that come after its start; use Selected")
	case d.options.Inline:
		return d.subscribe(ctx, h, &inline[T]{observer: d.observer(ctx)})
	default:
		return d.subscribe(ctx, h, newQueue(d.observer(ctx), reconciler.UniversalBucket()))
	}
}

// HasSynced reports whether the observer has received the objects that existed when it subscribed, or has them in its queue.
func (s *Subscription) HasSynced() bool { return s.registration.HasSynced() }

// stopPoll is the interval at which Stop checks whether calls are running.
const stopPoll = 10 * time.Millisecond

// Stop ends the calls of the observer, and drops what is pending. It returns once no call is running and none will begin, or with an error when ctx
// ends before. An observer that stops itself waits for itself.
func (s *Subscription) Stop(ctx context.Context) error {
	defer s.release()
	err := s.informer.RemoveEventHandler(s.registration)
	s.at.stop()
	if wait.PollUntilContextCancel(ctx, stopPoll, true, func(context.Context) (bool, error) { return s.at.running() == 0, nil }) != nil {
		err = errors.Join(err, fmt.Errorf("%d calls are still running: %w", s.at.running(), context.Cause(ctx)))
	}
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
		impl, q := controllerOf(ctx, d)
		h, err := hubFrom(ctx)
		if err == nil {
			err = d.connect(ctx, h, q)
		}
		if err != nil {
			logging.FromContext(ctx).Fatalw("An observer cannot be started", "observer", d.id, "error", err)
		}
		return impl
	}
}

func (d *definitionOf[T]) start(h *hub) error {
	if d.options.Inline {
		return d.connect(h.ctx, h, &inline[T]{observer: d.observer(h.ctx)})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.constructed[d] {
		return errors.New("it has no controller: main must pass observe.Constructors() to sharedmain")
	}
	return nil
}

// connect delivers to an observer whose initial list the start of the process waits for.
func (d *definitionOf[T]) connect(ctx context.Context, h *hub, at station) error {
	s, err := d.subscribe(ctx, h, at)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.constructed[d] = true
	h.synced = append(h.synced, waiting{d.id, s.informer, s.HasSynced})
	return nil
}

// subscribe delivers the notifications of the source from now on.
func (d *definitionOf[T]) subscribe(ctx context.Context, h *hub, at station) (*Subscription, error) {
	informer, err := h.informerOf(ctx, d.source.source, d.id)
	if err != nil {
		at.stop()
		return nil, err
	}
	s := &Subscription{informer: informer, at: at, release: sync.OnceFunc(func() { h.release(informer, d.id) })}
	if s.registration, err = d.listen(informer, at); err != nil {
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
