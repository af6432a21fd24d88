/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package duckinformer

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
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
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
	handler  cache.ResourceEventHandler
	changed  func(schema.GroupVersionResource)
	// namespace is the only one that is watched; empty for all.
	namespace string

	mu      sync.Mutex
	entries map[schema.GroupVersionResource]*entry
}

// entry is a running informer.
type entry struct {
	cancel context.CancelFunc
	lister cache.GenericLister
	synced bool
	// err is the last error of a list or watch, nil once a watch was opened again.
	err error
}

// New returns a Factory. Every informer runs until ctx ends or Stop names it, holds objects as copies of duckType (or as
// *Malformed), and calls handler for each change. It watches the namespace that ctx is scoped to (see
// injection.WithNamespaceScope), or all.
//
// changed is called when a resource becomes readable, stops being readable, or fails for another reason than before, so that
// the callers of Lister can be enqueued. It is not called for retries that fail alike. It must not block.
func New(ctx context.Context, client dynamic.Interface, duckType apis.Listable, handler cache.ResourceEventHandler,
	changed func(schema.GroupVersionResource),
) *Factory {
	return &Factory{
		ctx:       ctx,
		client:    client,
		duckType:  duckType,
		handler:   handler,
		changed:   changed,
		namespace: injection.GetNamespaceScope(ctx),
		entries:   make(map[schema.GroupVersionResource]*entry),
	}
}

// Lister returns the lister of a resource's informer, and starts the informer if there is none. It never blocks:
//
//   - a lister and no error: the cache was filled, and the resource can be read;
//   - a lister and an error: the cache has the last known objects, and reading the resource fails now;
//   - ErrNotSynced: the first list is under way;
//   - another error: it failed.
//
// apierrors.IsForbidden and IsNotFound recognize the API server's errors. The informer retries all of them with
// exponential back-off of up to a minute, however often Lister is called.
func (f *Factory) Lister(gvr schema.GroupVersionResource) (cache.GenericLister, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.entries[gvr]
	if !ok {
		var err error
		if e, err = f.start(gvr); err != nil {
			return nil, err
		}
		f.entries[gvr] = e
	}
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

// start creates and runs an informer. f.mu is held.
func (f *Factory) start(gvr schema.GroupVersionResource) (*entry, error) {
	e := &entry{}
	resource := f.client.Resource(gvr).Namespace(f.namespace)
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return resource.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			streams := options.SendInitialEvents != nil
			if streams && f.failed(e) {
				// That a stream was opened does not tell whether objects can be read. A list and a watch do, by one request a try.
				return nil, errListFirst
			}
			w, err := resource.Watch(ctx, options)
			if err == nil && !streams {
				f.update(gvr, e, func() { e.err = nil })
			}
			return w, err
		},
	}, f.client), &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{
		ResyncPeriod:      controller.DefaultResyncPeriod,
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		ObjectDescription: gvr.GroupResource().String(),
	})
	e.lister = cache.NewGenericLister(informer.GetIndexer(), gvr.GroupResource())

	ctx, cancel := context.WithCancel(f.ctx)
	e.cancel = cancel
	onError := func(ctx context.Context, r *cache.Reflector, err error) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
		// After 410 Gone the reflector lists anew.
		if ctx.Err() == nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			f.update(gvr, e, func() { e.err = err })
		}
	}
	_, err := informer.AddEventHandler(f.handler)
	if err := errors.Join(err, informer.SetTransform(f.toDuckType), informer.SetWatchErrorHandlerWithContext(onError)); err != nil {
		cancel()
		return nil, fmt.Errorf("setting up the informer of %s: %w", gvr.GroupResource(), err)
	}
	go informer.RunWithContext(ctx)
	go func() {
		poll := wait.Backoff{Duration: time.Millisecond, Factor: 2, Steps: 7}.DelayFunc()
		if poll.Until(ctx, true, false, func(context.Context) (bool, error) { return informer.HasSynced(), nil }) == nil {
			f.update(gvr, e, func() { e.synced = true })
		}
	}()
	return e, nil
}

func (f *Factory) failed(e *entry) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return e.err != nil
}

// update changes an entry and reports whether that is news for the callers of Lister.
func (f *Factory) update(gvr schema.GroupVersionResource, e *entry, change func()) {
	f.mu.Lock()
	before := *e
	change()
	isNews := f.entries[gvr] == e && (e.synced || e.err != nil) &&
		(e.synced != before.synced || (e.err == nil) != (before.err == nil) || apierrors.ReasonForError(e.err) != apierrors.ReasonForError(before.err))
	f.mu.Unlock()
	if isNews {
		f.changed(gvr)
	}
}
