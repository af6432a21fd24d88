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
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/injection"
)

// firstListLimit is the time for which Get waits for the first list of a resource, so that a restart changes no status.
const firstListLimit = 2 * time.Second

// sharedFor is the time for which the informers share an answer of discovery. Any user can refer to any number of kinds that are not served.
const sharedFor = 3 * time.Second

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

	discovery  sync.Mutex
	discovered time.Time
	lists      []*metav1.APIResourceList
	failed     error
}

// entry is the informer of a resource. The mu of its factory guards err.
type entry struct {
	informer *informer
	// err is that of the last list, nil once one succeeded.
	err     error
	started time.Time
}

// duckFactory returns the factory in place of upstream's, always the same one.
func (p *process) duckFactory(ctx context.Context, inner duck.InformerFactory) duck.InformerFactory {
	f := &factory{process: p, ctx: ctx, inner: inner, entries: map[schema.GroupVersionResource]*entry{}}
	if cached, ok := inner.(*duck.CachedInformerFactory); ok {
		f.typed, _ = cached.Delegate.(*duck.TypedInformerFactory)
	}
	stored, _ := p.ducks.LoadOrStore(inner, f)
	return stored.(*factory) //nolint:forcetypeassert // a map of them
}

// Get implements duck.InformerFactory. It replaces only the context of a factory that is not one of upstream's, and changes nothing of one of ours.
func (f *factory) Get(_ context.Context, gvr schema.GroupVersionResource) (cache.SharedIndexInformer, cache.GenericLister, error) {
	if f.typed == nil {
		return f.inner.Get(f.ctx, gvr) //nolint:wrapcheck // it is the result
	}
	for {
		f.mu.Lock()
		if f.entries[gvr] == nil {
			f.entries[gvr] = f.start(gvr)
		}
		e, err := f.entries[gvr], f.entries[gvr].err
		f.mu.Unlock()
		switch {
		case e.informer.HasSynced():
			return e.informer, cache.NewGenericLister(e.informer.GetIndexer(), gvr.GroupResource()), nil
		case err != nil:
			return nil, nil, fmt.Errorf("reading %s: %w", gvr.GroupResource(), err)
		case time.Since(e.started) > firstListLimit:
			return nil, nil, fmt.Errorf("reading %s: %w", gvr.GroupResource(), errNotSynced)
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // a condition without an event
	}
}

// start runs the informer of a resource until the process ends. It queries discovery first, and again after a denial: the API server checks permissions
// before it looks for the resource, and a list of what is not served would be repeated as long as the process runs.
func (f *factory) start(gvr schema.GroupVersionResource) *entry {
	e, none := &entry{started: time.Now()}, schema.GroupVersionResource{}
	resource := none                            // only the reflector uses it
	scope := injection.GetNamespaceScope(f.ctx) // upstream's informers read all namespaces
	inner := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (list runtime.Object, err error) {
			if resource == none {
				resource = f.served(gvr)
			}
			if err = apierrors.NewNotFound(gvr.GroupResource(), ""); resource != none {
				list, err = f.typed.Client.Resource(resource).Namespace(scope).List(ctx, options)
			}
			if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
				resource = none
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if reason := apierrors.ReasonForError(err); reason != apierrors.ReasonForError(e.err) && reason != metav1.StatusReasonUnknown {
				f.process.logger().Warnw("Reading the objects of a duck type failed", "error", err)
			}
			e.err = err
			return list, err //nolint:wrapcheck // the reflector distinguishes errors by their type
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if resource == none {
				return nil, apierrors.NewNotFound(gvr.GroupResource(), "") // the reflector lists then
			}
			return f.typed.Client.Resource(resource).Namespace(scope).Watch(ctx, options)
		},
	}, f.typed.Client), &unstructured.Unstructured{}, f.typed.ResyncPeriod, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	e.err = errors.Join(inner.SetTransform(f.toDuckType), inner.SetWatchErrorHandlerWithContext(onWatchError))
	e.informer = f.process.wrap(gvr.Resource, inner)
	e.informer.resource = gvr
	f.process.informers.all.Store(e.informer, nil)
	go inner.Run(f.typed.StopChannel)
	return e
}

// onWatchError keeps answers of the API server from the level ERROR, which each user can cause: reconcilers get them, and the user whose object refers
// to the kind.
func onWatchError(ctx context.Context, r *cache.Reflector, err error) {
	if apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
		cache.DefaultWatchErrorHandler(ctx, r, err)
	}
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

// served returns the resource that the API server serves for one whose name was guessed from a kind, or none: the plural of a kind may be any word.
func (f *factory) served(guessed schema.GroupVersionResource) (served schema.GroupVersionResource) {
	f.discovery.Lock()
	defer f.discovery.Unlock()
	if time.Since(f.discovered) > sharedFor {
		_, f.lists, f.failed = kubeclient.Get(f.ctx).Discovery().ServerGroupsAndResources()
		f.discovered = time.Now()
	}
	gv := guessed.GroupVersion()
	for _, list := range f.lists {
		if list.GroupVersion != gv.String() {
			continue
		}
		for _, resource := range list.APIResources {
			if resource.Name == guessed.Resource {
				return guessed
			}
			// A subresource such as gateways/status has the kind of its resource.
			if guess, _ := meta.UnsafeGuessKindToResource(gv.WithKind(resource.Kind)); guess == guessed && !strings.Contains(resource.Name, "/") {
				served = gv.WithResource(resource.Name)
			}
		}
	}
	groups, partly := discovery.GroupDiscoveryFailedErrorGroups(f.failed)
	if _, failed := groups[gv]; served.Empty() && (failed || f.failed != nil && !partly) {
		return guessed
	}
	return served
}
