/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
)

// informers are the informers of the process that this package has wrapped.
type informers struct{ all sync.Map } // of *informer

func (i *informers) list() (all []*informer) {
	for key := range i.all.Range {
		all = append(all, key.(*informer)) //nolint:forcetypeassert // a map of them
	}
	return all
}

// unsynced returns the kinds whose first list has not completed, without those of duck informers, which start at any time.
func (i *informers) unsynced() (kinds []string) {
	for _, informer := range i.list() {
		if informer.resource.Empty() && !informer.HasSynced() {
			kinds = append(kinds, informer.kind)
		}
	}
	return kinds
}

// reportUnsynced logs the kinds whose first lists have not completed, every 10 seconds until all have: package controller waits in silence.
func (p *process) reportUnsynced(stop <-chan struct{}) {
	_ = wait.PollUntilContextCancel(wait.ContextForChannel(stop), 10*time.Second, false, func(context.Context) (bool, error) {
		kinds := p.informers.unsynced()
		if len(kinds) > 0 {
			p.logger().Warnw("The first lists of these kinds have not completed yet", "kinds", kinds)
		}
		return len(kinds) == 0, nil
	})
}

// have reports whether no cache lacks a write. An object that no informer watches is in none.
func (i *informers) have(w write) bool {
	key := cache.MetaObjectToName(&w).String()
	return !slices.ContainsFunc(i.list(), func(informer *informer) bool {
		item, exists, _ := informer.GetIndexer().GetByKey(key) // a cache in memory has no errors
		cached, ok := item.(metav1.Object)
		return ok && cached.GetUID() == w.UID && !w.isIn(cached) || !exists && informer.awaits(w)
	})
}

// awaits reports whether an object that was created will be in the cache of the informer.
func (i *informer) awaits(w write) bool {
	return w.method == http.MethodPost && !i.selects.Load() && (i.kind == w.Kind || i.resource == w.resource && i.HasSynced())
}

// missed is called with a write that did not arrive within patience. Informers that lack a created object select others.
func (i *informers) missed(w write) {
	for _, informer := range i.list() {
		if _, exists, _ := informer.GetIndexer().GetByKey(cache.MetaObjectToName(&w).String()); !exists && informer.awaits(w) {
			informer.selects.Store(true)
		}
	}
}

// rehearsal runs the injectors of informers on spare factories, and makes the real factories return wrapped informers: a factory keeps the
// first informer of a type. It is an injector itself, the last one before those of the informers.
func (p *process) rehearsal(inner injection.Interface, factories []injection.InformerFactoryInjector) injection.DuckFactoryInjector {
	return func(actual context.Context) context.Context {
		spare := actual
		for _, inject := range factories {
			spare = inject(spare) //nolint:fatcontext // it holds one factory of each kind
		}
		for _, inject := range inner.GetInformers() {
			spare = p.rehearse(actual, spare, func(ctx context.Context) (context.Context, []controller.Informer) { //nolint:fatcontext // and one informer
				ctx, informer := inject(ctx)
				return ctx, []controller.Informer{informer}
			})
		}
		for _, inject := range inner.GetFilteredInformers() {
			spare = p.rehearse(actual, spare, inject) //nolint:fatcontext // the same
		}
		return actual
	}
}

// rehearse runs one injector. Injectors are arbitrary code, so one that cannot be rehearsed keeps its informers as they are.
func (p *process) rehearse(actual, spare context.Context, inject injection.FilteredInformersInjector) (next context.Context) {
	defer func() {
		if cause := recover(); cause != nil {
			next = cmp.Or(next, spare)
			logging.FromContext(actual).Warnw("The informers of an injector are not hardened, because it cannot be rehearsed", "cause", cause)
		}
	}()
	seen := &factoryReader{Context: spare}
	next, made := inject(seen)
	for n, m := range made {
		if shared, ok := m.(cache.SharedIndexInformer); ok {
			if len(seen.keys) != len(made) {
				panic(fmt.Sprintf("it reads %d factories for %d informers", len(seen.keys), len(made)))
			}
			p.seed(actual.Value(seen.keys[n]), shared)
		}
	}
	return next
}

// factoryReader is a context that notes the factories that an injector reads.
type factoryReader struct {
	context.Context //nolint:containedctx // it is a context

	keys []any
}

// Value implements context.Context.
func (r *factoryReader) Value(key any) any {
	value := r.Context.Value(key)
	if value != nil && reflect.ValueOf(value).MethodByName("InformerFor").IsValid() {
		r.keys = append(r.keys, key)
	}
	return value
}

// seed makes a factory return a wrapper around an informer. Each clientset has its own type of factories.
func (p *process) seed(factory any, spare cache.SharedIndexInformer) {
	object := objectType(spare)
	informerFor := reflect.ValueOf(factory).MethodByName("InformerFor")
	wrapped := p.wrap(object.Elem().Name(), spare)
	constructor := reflect.MakeFunc(informerFor.Type().In(1), func([]reflect.Value) []reflect.Value {
		p.informers.all.Store(wrapped, nil)
		return []reflect.Value{reflect.ValueOf(wrapped)}
	})
	informerFor.Call([]reflect.Value{reflect.New(object.Elem()), constructor})
}

// objectType returns the type of the objects of an informer, a pointer to a struct. client-go does not export it.
func objectType(informer cache.SharedIndexInformer) reflect.Type {
	field := reflect.ValueOf(informer).Elem().FieldByName("objectType")
	if !field.IsValid() || field.IsNil() || field.Elem().Kind() != reflect.Pointer {
		panic(fmt.Sprintf("%T has no field objectType with a pointer", informer))
	}
	return field.Elem().Type()
}

// informer is an informer whose handlers may panic, and learn of each deletion.
type informer struct {
	cache.SharedIndexInformer

	process *process
	// kind is the name of the Go type of its objects.
	kind string
	// resource is that of a duck informer, and empty for others.
	resource schema.GroupVersionResource
	// selects is set once it turns out that the informer does not have all objects that this process creates.
	selects atomic.Bool
}

func (p *process) wrap(kind string, inner cache.SharedIndexInformer) *informer {
	return &informer{SharedIndexInformer: inner, process: p, kind: kind}
}

// AddEventHandler implements cache.SharedIndexInformer.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(i.contained(h)) //nolint:wrapcheck // it is the result
}

// AddEventHandlerWithResyncPeriod implements cache.SharedIndexInformer.
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, period time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(i.contained(h), period) //nolint:wrapcheck // it is the result
}

// AddEventHandlerWithOptions implements cache.SharedIndexInformer.
func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(i.contained(h), options) //nolint:wrapcheck // it is the result
}

// contained returns a handler that may panic. It receives the last known state of an object whose deletion the watch has missed: the filters of package
// controller drop a cache.DeletedFinalStateUnknown.
func (i *informer) contained(h cache.ResourceEventHandler) cache.ResourceEventHandler {
	// The event is not delivered again: for handlers that enqueue, the next one of the object repairs that.
	lost := func(cause any) {
		i.process.logger().Errorw("An event handler panicked", "kind", i.kind, "panic", cause, zap.Stack("stack"))
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInInitialList bool) {
			defer i.process.contain(lost)
			h.OnAdd(object, isInInitialList)
		},
		UpdateFunc: func(before, after any) {
			defer i.process.contain(lost)
			h.OnUpdate(before, after)
		},
		DeleteFunc: func(object any) {
			defer i.process.contain(lost)
			if missed, ok := object.(cache.DeletedFinalStateUnknown); ok && missed.Obj != nil && !i.process.off[tombstones] {
				object = missed.Obj
			}
			h.OnDelete(object)
		},
	}
}
