/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/metric"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/runtime/backlog"
	"github.com/mallard-dev/mallard/runtime/tracker"
)

// Wakes wakes objects of one reconciler, and remembers why until their pass begins. It
// may be used by several goroutines. Use Instrument.
type Wakes struct {
	*instruments

	impl   *controller.Impl
	kind   string
	memory *memory
	// backlog holds what is not urgent.
	backlog *backlog.Backlog
	// tracker is nil if the context of the controller had one.
	tracker *tracker.Tracker
}

// Event is something that happened to an object that an informer watches. Its methods
// wake objects because of it.
type Event struct {
	// Object is the new state or, of a deleted object, the last one that is known. It may be a
	// cache.DeletedFinalStateUnknown.
	Object any
	// Old is the state before an update or a resync, nil otherwise.
	Old any
	// Cause is what will be told.
	Cause Cause

	wakes *Wakes
}

// On returns a handler that calls f for each event of an informer. kind is what the
// informer watches, a word of the code's own and not of the cluster's.
func (w *Wakes) On(kind string, f func(Event)) cache.ResourceEventHandler {
	tell := func(what What, old, obj any) {
		cause := Cause{What: what, Source: kind}
		if accessor, err := kmeta.DeletionHandlingAccessor(obj); err == nil {
			cause.Object = keyOf(accessor).String()
		}
		f(Event{Object: obj, Old: old, Cause: cause, wakes: w})
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if initial {
				tell(Listed, nil, obj)
			} else {
				tell(Added, nil, obj)
			}
		},
		UpdateFunc: func(old, obj any) {
			if sameVersion(old, obj) {
				tell(Resynced, old, obj)
			} else {
				tell(Updated, old, obj)
			}
		},
		DeleteFunc: func(obj any) { tell(Deleted, nil, obj) },
	}
}

// sameVersion is whether an update tells nothing new, which is how a resync looks.
func sameVersion(old, obj any) bool {
	before, ok := old.(metav1.Object)
	after, isObject := obj.(metav1.Object)
	return ok && isObject && before.GetResourceVersion() != "" && before.GetResourceVersion() == after.GetResourceVersion()
}

// Enqueue wakes the object that the event is about.
func (e Event) Enqueue() { e.EnqueueObject(e.Object) }

// EnqueueObject wakes another object, which may be a tombstone. What is no object is ignored.
func (e Event) EnqueueObject(obj any) {
	if accessor, err := kmeta.DeletionHandlingAccessor(obj); err == nil {
		e.EnqueueKey(keyOf(accessor))
	}
}

// EnqueueObservers wakes the objects that track the one that the event is about. Objects
// from typed informers do not say what they are, which kind is for; it may be empty for others.
func (e Event) EnqueueObservers(kind schema.GroupVersionKind) {
	enqueue := func(obj any) {
		for _, key := range e.wakes.impl.Tracker.GetObservers(obj) {
			e.EnqueueKey(key)
		}
	}
	if !kind.Empty() {
		enqueue = controller.EnsureTypeMeta(enqueue, kind)
	}
	enqueue(e.Object)
}

// EnqueueKey enqueues an object by its name. A resync is not urgent.
func (e Event) EnqueueKey(key types.NamespacedName) {
	if e.Cause.What == Resynced {
		e.wakes.enqueueLater(key, e.Cause)
		return
	}
	e.wakes.note(key, e.Cause)
	e.wakes.impl.EnqueueKey(key)
}

// EnqueueAll enqueues, once the queue is short, each object of an informer that the filter accepts.
func (e Event) EnqueueAll(filter func(any) bool, informer cache.SharedInformer) {
	e.wakes.resync(e.Cause, filter, informer)
}

// EnqueueConfigured enqueues, once the queue is short, each object of an informer that the filter
// accepts, because a ConfigMap has changed.
func (w *Wakes) EnqueueConfigured(configMap string, filter func(any) bool, informer cache.SharedInformer) {
	w.resync(Cause{What: Configured, Source: configMap}, filter, informer)
}

// EnqueueServed enqueues, on the slow lane, each object of an informer that the filter accepts, because it has become known
// whether the kinds that they refer to can be read.
func (w *Wakes) EnqueueServed(source string, filter func(any) bool, informer cache.SharedInformer) {
	w.resync(Cause{What: Served, Source: source}, filter, informer)
}

func (w *Wakes) resync(cause Cause, filter func(any) bool, informer cache.SharedInformer) {
	for _, obj := range informer.GetStore().List() {
		if accessor, err := kmeta.DeletionHandlingAccessor(obj); err == nil && filter(obj) {
			w.enqueueLater(keyOf(accessor), cause)
		}
	}
}

func (w *Wakes) enqueueLater(key types.NamespacedName, cause Cause) {
	w.note(key, cause)
	w.backlog.Add(key)
}

func (w *Wakes) note(key types.NamespacedName, cause Cause) {
	w.memory.note(key, cause)
	w.count(cause)
}

func (w *Wakes) count(cause Cause) {
	w.wakes.Add(context.Background(), 1, metric.WithAttributes(
		kindKey.String(w.kind), causeKey.String(string(cause.What)), sourceKey.String(cause.Source)))
}

func keyOf(o metav1.Object) types.NamespacedName { return cache.MetaObjectToName(o).AsNamespacedName() }
