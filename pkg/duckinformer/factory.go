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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
)

// SyncTimeout bounds how long a new informer may take to fill its cache.
const SyncTimeout = 10 * time.Second

// ErrNotSynced is returned when an informer did not fill its cache within
// SyncTimeout.
var ErrNotSynced = errors.New("the cache was not filled in time")

// Factory makes and keeps the informers of one duck type. Use New.
type Factory struct {
	ctx      context.Context //nolint:containedctx // the lifetime of the informers, not of a call
	client   dynamic.Interface
	duckType apis.Listable
	handler  cache.ResourceEventHandler
	// namespace is the only one that is watched; empty for all.
	namespace string
	// timeout is SyncTimeout, but for a test of what happens after it.
	timeout time.Duration

	mu      sync.Mutex
	entries map[schema.GroupVersionResource]*entry
}

// entry is one informer, being started or running.
type entry struct {
	cancel context.CancelFunc
	// started is closed once lister or err is set.
	started  chan struct{}
	informer cache.SharedIndexInformer
	lister   cache.GenericLister
	err      error
}

// New makes a Factory. Every informer runs until ctx ends or Stop names it, holds objects as copies of duckType (or as
// *Malformed), and calls handler for each change. It watches the namespace that ctx is scoped to, as
// injection.WithNamespaceScope does it, or all.
func New(ctx context.Context, client dynamic.Interface, duckType apis.Listable, handler cache.ResourceEventHandler) *Factory {
	return &Factory{
		ctx:       ctx,
		client:    client,
		duckType:  duckType,
		handler:   handler,
		namespace: injection.GetNamespaceScope(ctx),
		timeout:   SyncTimeout,
		entries:   make(map[schema.GroupVersionResource]*entry),
	}
}

var _ duck.InformerFactory = (*Factory)(nil)

// Lister returns the lister of a resource's informer, as Get does.
func (f *Factory) Lister(ctx context.Context, gvr schema.GroupVersionResource) (cache.GenericLister, error) {
	_, lister, err := f.Get(ctx, gvr)
	return lister, err
}

// Get implements duck.InformerFactory: it returns a resource's informer and its lister. It starts the informer and waits
// for it when there is none. Any number of callers share one informer.
//
// The error is the API server's own when it refuses to list the resource, so
// that apierrors.IsForbidden and IsNotFound tell the two apart; ErrNotSynced
// when the cache does not fill; ctx's when that ends first. After an error the
// next call tries anew.
func (f *Factory) Get(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	f.mu.Lock()
	e, ok := f.entries[gvr]
	if !ok {
		var runCtx context.Context
		e = &entry{started: make(chan struct{})}
		runCtx, e.cancel = context.WithCancel(f.ctx)
		f.entries[gvr] = e
		go f.start(runCtx, gvr, e)
	}
	f.mu.Unlock()

	select {
	case <-e.started:
		return e.informer, e.lister, e.err
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("waiting for the informer of %s: %w", gvr.GroupResource(), ctx.Err())
	}
}

// Stop ends the informers of every resource that match accepts. A later Get
// starts a new one.
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

// start runs apart from the caller that asked first, for others may wait for the
// same informer when that one gives up.
func (f *Factory) start(ctx context.Context, gvr schema.GroupVersionResource, e *entry) {
	defer close(e.started)
	if e.informer, e.err = f.run(ctx, gvr); e.err == nil {
		e.lister = cache.NewGenericLister(e.informer.GetIndexer(), gvr.GroupResource())
		return
	}
	e.cancel()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.entries[gvr] == e {
		delete(f.entries, gvr)
	}
}

func (f *Factory) run(ctx context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, error) {
	timeout, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()

	// An informer only logs that it is refused and tries on; a list tells why.
	if _, err := f.client.Resource(gvr).Namespace(f.namespace).List(timeout, metav1.ListOptions{Limit: 1}); err != nil {
		return nil, fmt.Errorf("listing %s: %w", gvr.GroupResource(), err)
	}

	informer := dynamicinformer.NewFilteredDynamicInformer(f.client, gvr, f.namespace,
		controller.DefaultResyncPeriod, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, nil).Informer()
	if err := informer.SetTransform(f.toDuckType); err != nil {
		return nil, fmt.Errorf("setting the transform of %s: %w", gvr.GroupResource(), err)
	}
	if _, err := informer.AddEventHandler(f.handler); err != nil {
		return nil, fmt.Errorf("adding the event handler of %s: %w", gvr.GroupResource(), err)
	}
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(timeout.Done(), informer.HasSynced) {
		return nil, fmt.Errorf("informer of %s: %w", gvr.GroupResource(), ErrNotSynced)
	}
	return informer, nil
}
