/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ducks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/logging"
)

const (
	// unusedAfter is the time after its last use at which the callers of Lister are enqueued to find out whether a resource is still needed.
	unusedAfter = time.Hour

	// sweepEvery is the period of that check, and the time that the callers have to call Lister.
	sweepEvery = 10 * time.Minute
)

// ErrNotSynced is returned while the first list of a resource is under way.
var ErrNotSynced = errors.New("the first list has not completed yet")

// errListFirst makes a reflector list instead of streaming the list through a watch.
var errListFirst = errors.New("the last request failed, so the next one is a list")

// Factory creates the informers of one duck type and keeps them running. Use New.
type Factory struct {
	ctx      context.Context //nolint:containedctx // the lifetime of the informers, not of a call
	client   dynamic.Interface
	duckType apis.Listable
	keep     sets.Set[string]
	changed  func(sets.Set[schema.GroupVersion])
	// namespace is the only one that is watched; empty for all.
	namespace string
	// retry is the back-off after a failed request.
	retry wait.Backoff
	clock clock.PassiveClock

	mu       sync.Mutex
	entries  map[schema.GroupVersionResource]*entry
	handlers []handler
}

// Object is the type that the informers deliver: a copy of the duck type, or a *Malformed.
type Object interface {
	kmeta.Accessor
	runtime.Object
}

type handler struct {
	cache.ResourceEventHandler

	options cache.HandlerOptions
}

// HasSynced implements cache.ResourceEventHandlerRegistration. No informer runs when the handler is added.
func (handler) HasSynced() bool { return true }

// entry is the informer of a resource. The mu of its factory guards what changes.
type entry struct {
	factory *Factory
	gvr     schema.GroupVersionResource
	cancel  context.CancelFunc
	lister  cache.GenericLister
	used    time.Time
	synced  bool
	// err is the last recorded error of a list or watch, nil once a watch was opened again.
	err error
}

func (e *entry) isReadable() bool { return e.synced && e.err == nil }

// New returns a Factory. Every informer runs until ctx ends or Stop names it, holds objects as copies of duckType (or as
// *Malformed) without annotations other than those of keep, unless that is nil. It watches the
// namespace that ctx is scoped to (see injection.WithNamespaceScope), or all. An informer is stopped if Lister was not called for its resource for
// more than an hour.
//
// changed is called with the version of a resource that becomes readable, stops being readable, or fails for another reason than before, so that
// the callers of Lister can be enqueued; also before its informer is stopped, which a call of Lister prevents. It is not called for
// retries that fail alike. It must not block.
func New(ctx context.Context, client dynamic.Interface, duckType apis.Listable, keep sets.Set[string],
	changed func(sets.Set[schema.GroupVersion]),
) *Factory {
	f := &Factory{
		ctx: ctx, client: client, duckType: duckType, keep: keep, changed: changed, namespace: injection.GetNamespaceScope(ctx),
		retry:   wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Cap: 25 * time.Second, Steps: 10},
		clock:   clock.RealClock{},
		entries: map[schema.GroupVersionResource]*entry{},
	}
	go wait.UntilWithContext(ctx, f.stopUnused, sweepEvery)
	return f
}

// AddEventHandlerWithOptions adds a handler to the informers of all resources. It is called before Lister is, so that no informer runs.
func (f *Factory) AddEventHandlerWithOptions(h cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	added := handler{h, options}
	f.handlers = append(f.handlers, added)
	return added, nil
}

// Lister returns the lister of a resource's informer, and starts the informer if it does not run. It never blocks:
//
//   - a lister and no error: the cache was filled, and the resource can be read;
//   - a lister and an error: the cache has the last known objects, and reading the resource fails now;
//   - ErrNotSynced: the first list is under way;
//   - another error: it failed.
//
// apierrors.IsForbidden and IsNotFound recognize the API server's errors. The informer retries with exponential back-off of up to
// 30 s, however often Lister is called. Once the cache was filled, an error is returned only if the API server answered two
// requests in a row with errors.
func (f *Factory) Lister(gvr schema.GroupVersionResource) (cache.GenericLister, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.entries[gvr]
	if !ok {
		e = &entry{factory: f, gvr: gvr}
		if err := e.start(); err != nil {
			return nil, err
		}
		f.entries[gvr] = e
	}
	e.used = f.clock.Now()
	switch {
	case e.synced:
		return e.lister, e.err
	case e.err != nil:
		return nil, e.err
	default:
		return nil, fmt.Errorf("%s: %w", gvr.GroupResource(), ErrNotSynced)
	}
}

// Stop ends the informers of every resource that match accepts. A later call of Lister starts a new one.
func (f *Factory) Stop(match func(schema.GroupVersionResource) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for gvr, e := range f.entries {
		if match(gvr) {
			e.cancel()
			delete(f.entries, gvr)
		}
	}
}

// stopUnused stops the informers that were not used since the last call, which enqueued their callers.
func (f *Factory) stopUnused(context.Context) {
	var unused []schema.GroupVersionResource
	f.mu.Lock()
	for gvr, e := range f.entries {
		switch idle := f.clock.Since(e.used); {
		case idle >= unusedAfter+sweepEvery:
			e.cancel()
			delete(f.entries, gvr)
		case idle >= unusedAfter:
			unused = append(unused, gvr)
		}
	}
	f.mu.Unlock()
	for _, gvr := range unused {
		f.changed(sets.New(gvr.GroupVersion()))
	}
}

// start creates and runs the informer.
func (e *entry) start() error {
	f := e.factory
	resource := f.client.Resource(e.gvr).Namespace(f.namespace)
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return persist(ctx, e, func() (*unstructured.UnstructuredList, error) { return resource.List(ctx, options) })
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			switch streams := options.SendInitialEvents != nil; {
			case streams && e.failed():
				// An open stream does not prove that objects can be read. A list followed by a watch does.
				return nil, errListFirst
			case streams:
				return resource.Watch(ctx, options)
			}
			w, err := persist(ctx, e, func() (watch.Interface, error) { return resource.Watch(ctx, options) })
			if err == nil {
				e.update(func() { e.err = nil })
			}
			return w, err
		},
	}, f.client), &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{
		ResyncPeriod:      controller.DefaultResyncPeriod,
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		ObjectDescription: e.gvr.GroupResource().String(),
	})
	e.lister = cache.NewGenericLister(informer.GetIndexer(), e.gvr.GroupResource())
	err := informer.SetTransform(f.toDuckType)
	for _, h := range f.handlers {
		_, added := informer.AddEventHandlerWithOptions(h.ResourceEventHandler, h.options)
		err = errors.Join(err, added)
	}
	if err != nil {
		return fmt.Errorf("setting up the informer of %s: %w", e.gvr.GroupResource(), err)
	}

	var ctx context.Context
	ctx, e.cancel = context.WithCancel(f.ctx)
	go informer.RunWithContext(ctx)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			e.update(func() { e.synced = true })
		}
	}()
	return nil
}

// persist repeats a request with back-off until it succeeds, and records its errors. The reflector would also retry, but at
// intervals of up to a minute, and it does not report all errors. The reflector distinguishes errors by their type.
func persist[T any](ctx context.Context, e *entry, request func() (T, error)) (result T, err error) {
	failures := 0
	_ = e.factory.retry.DelayFunc().Until(ctx, true, true, func(context.Context) (bool, error) {
		// For an expired version the reflector has to choose another one.
		if result, err = request(); err == nil || ctx.Err() != nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) ||
			apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
			return true, nil //nolint:nilerr // the caller has it
		}
		failures++
		e.update(func() {
			// A request that fails once, or that the API server does not answer, must not change the status of every object.
			if _, answered := errors.AsType[*apierrors.StatusError](err); !e.synced || answered && failures > 1 {
				e.err = err
			}
		})
		return false, nil
	})
	return result, err
}

func (e *entry) failed() bool {
	e.factory.mu.Lock()
	defer e.factory.mu.Unlock()
	return e.err != nil
}

// update changes the entry and reports whether that is news for the callers of Lister.
func (e *entry) update(change func()) {
	f := e.factory
	f.mu.Lock()
	before := *e
	change()
	isNews := f.entries[e.gvr] == e && (e.isReadable() != before.isReadable() ||
		e.err != nil && (before.err == nil || apierrors.ReasonForError(e.err) != apierrors.ReasonForError(before.err)))
	err := e.err
	f.mu.Unlock()
	if isNews {
		logging.FromContext(f.ctx).Infow("A resource became readable or unreadable", "resource", e.gvr.String(), "error", err)
		f.changed(sets.New(e.gvr.GroupVersion()))
	}
}
