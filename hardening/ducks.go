/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/injection"
)

// firstListLimit is the time for which Get waits for the first list of a resource, so that a restart changes no status.
const firstListLimit = 2 * time.Second

// errNotSynced is returned if the first list of a resource takes longer. The reconciliation is repeated with back-off.
var errNotSynced = errors.New("the first list has not completed yet")

// factory is a factory of duck informers that never blocks for long. Upstream's waits for the first list without a limit, and one object that does not
// fit the duck type fails the list of all others.
type factory struct {
	process *process
	// ctx is that of the process: upstream keeps the one of the first caller.
	ctx   context.Context //nolint:containedctx // the lifetime of the informers, not of a call
	inner duck.InformerFactory
	typed *duck.TypedInformerFactory

	mu      sync.Mutex
	entries map[schema.GroupVersionResource]*entry
}

// entry is the informer of a resource. The mu of its factory guards err.
type entry struct {
	informer *informer
	lister   cache.GenericLister
	// err is that of the last list, nil once one succeeded.
	err     error
	started time.Time
}

// duckFactory returns the factory in place of upstream's, always the same one.
func (p *process) duckFactory(ctx context.Context, inner duck.InformerFactory) duck.InformerFactory {
	if own, ok := inner.(*factory); ok {
		return own
	}
	f := &factory{process: p, ctx: ctx, inner: inner, entries: map[schema.GroupVersionResource]*entry{}}
	if cached, ok := inner.(*duck.CachedInformerFactory); ok {
		f.typed, _ = cached.Delegate.(*duck.TypedInformerFactory)
	}
	stored, _ := p.ducks.LoadOrStore(inner, f)
	return stored.(*factory)
}

// Get implements duck.InformerFactory. It replaces only the context of a factory that is not one of upstream's.
func (f *factory) Get(_ context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	if f.typed == nil {
		return f.inner.Get(f.ctx, gvr) //nolint:wrapcheck // it is the result
	}
	for {
		e, err := f.get(gvr)
		switch {
		case e.informer.HasSynced():
			return e.informer, e.lister, nil
		case err != nil:
			return nil, nil, fmt.Errorf("reading %s: %w", gvr.GroupResource(), err)
		case time.Since(e.started) > firstListLimit:
			return nil, nil, fmt.Errorf("reading %s: %w", gvr.GroupResource(), errNotSynced)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// get returns the informer of a resource, and the error of its last list.
func (f *factory) get(gvr schema.GroupVersionResource) (*entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.entries[gvr]
	if !ok {
		e = f.start(gvr)
		f.entries[gvr] = e
	}
	return e, e.err
}

// start runs the informer of a resource until the process ends.
func (f *factory) start(gvr schema.GroupVersionResource) *entry {
	e, resource := &entry{started: time.Now()}, gvr // only the reflector uses resource
	inner := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := f.resource(resource).List(ctx, options)
			if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
				// The API server checks permissions before it looks for the resource.
				switch served, ok := f.served(gvr); {
				case !ok:
					err = apierrors.NewNotFound(gvr.GroupResource(), "")
				case served != resource:
					resource = served
					list, err = f.resource(resource).List(ctx, options)
				}
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			e.err = err
			return list, err //nolint:wrapcheck // the reflector distinguishes errors by their type
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return f.resource(resource).Watch(ctx, options) //nolint:wrapcheck // the same
		},
	}, f.typed.Client), &unstructured.Unstructured{}, f.typed.ResyncPeriod, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	e.err = errors.Join(inner.SetTransform(f.toDuckType), inner.SetWatchErrorHandlerWithContext(f.onWatchError))
	e.informer = f.process.wrap(gvr.Resource, inner)
	e.informer.resource = gvr
	f.process.informers.add(e.informer)
	e.lister = cache.NewGenericLister(inner.GetIndexer(), gvr.GroupResource())
	go inner.Run(f.typed.StopChannel)
	return e
}

// onWatchError keeps the answer that a kind is not served, or must not be read, from the level ERROR: reconcilers get it, and the user whose object
// refers to the kind.
func (f *factory) onWatchError(ctx context.Context, r *cache.Reflector, err error) {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		f.process.logger().Warnw("Reading the objects of a duck type failed", "error", err)
		return
	}
	cache.DefaultWatchErrorHandler(ctx, r, err)
}

// resource returns the client of a resource, in the namespace of the process if it has one. Upstream's informers read all namespaces.
func (f *factory) resource(gvr schema.GroupVersionResource) dynamic.ResourceInterface {
	return f.typed.Client.Resource(gvr).Namespace(injection.GetNamespaceScope(f.ctx))
}

// toDuckType makes an object one of the duck type. One that does not fit remains as it is, so that those that refer to it fail alone. It implements
// cache.TransformFunc, which has to accept its own results.
func (f *factory) toDuckType(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	typed := f.typed.Type.DeepCopyObject()
	if err := duck.FromUnstructured(u, typed); err != nil {
		f.process.logger().Warnw("An object does not fit its duck type", "kind", u.GetKind(), "key", cache.MetaObjectToName(u).String(), "error", err)
		return u, nil
	}
	return typed, nil
}

// served returns the resource that the API server serves for one whose name was guessed from a kind: the plural of a kind may be any word. It returns
// false if the API server serves none.
func (f *factory) served(guessed schema.GroupVersionResource) (served schema.GroupVersionResource, ok bool) {
	gv := guessed.GroupVersion()
	list, err := kubeclient.Get(f.ctx).Discovery().ServerResourcesForGroupVersion(gv.String())
	if err != nil {
		f.process.logger().Debugw("Reading the resources of a group failed", "group", gv.String(), "error", err)
		return guessed, !apierrors.IsNotFound(err)
	}
	for _, resource := range list.APIResources {
		if resource.Name == guessed.Resource {
			return guessed, true
		}
		// A subresource such as gateways/status has the kind of its resource.
		if guess, _ := meta.UnsafeGuessKindToResource(gv.WithKind(resource.Kind)); guess == guessed && !strings.Contains(resource.Name, "/") {
			served, ok = gv.WithResource(resource.Name), true
		}
	}
	return served, ok
}
