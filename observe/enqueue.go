/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/metric"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/logging"
)

// This file has all that happens between the watch of an informer and the queue of a reconciler; reconciler.go has what follows.

// DropManagedFields is for Transform, and the transform of Selected and Metadata without one. Managed fields are often the larger part of an
// object, and nothing here reads them.
func DropManagedFields(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return obj, nil
}

// reporting returns a transform that logs and counts failures. An object whose transform fails is cached as it is: client-go would drop its change,
// would not accept a list that has it, and would take it for deleted if the list is streamed.
func reporting(ctx context.Context, source string, transform cache.TransformFunc) cache.TransformFunc {
	own := metric.WithAttributes(sourceAttribute.String(source))
	// As in newMetrics.
	transformErrors.Add(context.Background(), 0, own)
	return func(obj any) (any, error) {
		transformed, err := transform(obj)
		if err == nil {
			return transformed, nil
		}
		key := fmt.Sprintf("%T", obj)
		if object, ok := obj.(metav1.Object); ok {
			key = cache.MetaObjectToName(object).String()
		}
		transformErrors.Add(context.Background(), 1, own)
		logging.FromContext(ctx).Errorw("The transform of a source failed, so that an object is cached as it is", "source", source, "key", key, "error", err)
		return obj, nil
	}
}

// notifications turns those of an informer into events. It implements cache.ResourceEventHandler.
type notifications[T Object] struct {
	// where accepts objects; nil accepts all.
	where   func(T) bool
	deliver func(Event[T])
	// mismatched is called with an object of another type.
	mismatched func(any)
}

// OnAdd implements cache.ResourceEventHandler.
func (n *notifications[T]) OnAdd(added any, listed bool) {
	if object, _, ok := objectOf[T](added, n.mismatched); ok && n.accepts(object) {
		n.deliver(Event[T]{Type: Added, Object: object, InInitialList: listed})
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (n *notifications[T]) OnUpdate(before, after any) {
	old, _, ok := objectOf[T](before, n.mismatched)
	object, _, isObject := objectOf[T](after, n.mismatched)
	if !ok || !isObject {
		return
	}
	accepted, accepts := n.accepts(old), n.accepts(object)
	switch {
	case old.GetUID() != object.GetUID():
		if accepted {
			n.deliver(Event[T]{Type: Deleted, Object: old, Old: old, FinalStateUnknown: true})
		}
		if accepts {
			n.deliver(Event[T]{Type: Added, Object: object})
		}
	case accepted && !accepts:
		n.deliver(Event[T]{Type: Deleted, Object: old, Old: old})
	case !accepted && accepts:
		n.deliver(Event[T]{Type: Added, Object: object})
	case accepts:
		n.deliver(Event[T]{Type: Updated, Object: object, Old: old, Resync: isResync(old, object)})
	}
}

// OnDelete implements cache.ResourceEventHandler.
func (n *notifications[T]) OnDelete(deleted any) {
	if object, unknown, ok := objectOf[T](deleted, n.mismatched); ok && n.accepts(object) {
		n.deliver(Event[T]{Type: Deleted, Object: object, Old: object, FinalStateUnknown: unknown})
	}
}

func (n *notifications[T]) accepts(object T) bool { return n.where == nil || n.where(object) }

// objectOf returns the object of a notification, and whether it comes from a deletion that was missed. mismatched is called with what is of another
// type.
func objectOf[T Object](notified any, mismatched func(any)) (object T, unknown, ok bool) {
	tombstone, unknown := notified.(cache.DeletedFinalStateUnknown)
	if unknown {
		notified = tombstone.Obj
	}
	if object, ok = notified.(T); !ok {
		mismatched(notified)
	}
	return object, unknown, ok
}

// isResync reports whether two states of an object are the same one. Fake clients have no versions, and so no resync.
func isResync[T Object](old, now T) bool {
	return old.GetResourceVersion() != "" && old.GetResourceVersion() == now.GetResourceVersion() && old.GetUID() == now.GetUID()
}

// into returns the function that enqueues the objects that an event of the source affects.
func (w watching[T]) into(t *Triggers) func(Event[T]) {
	return func(e Event[T]) { w.enqueue(t, e) }
}

func (w watching[T]) enqueue(t *Triggers, e Event[T]) {
	if expectations := t.guards.Expectations; e.Type == Deleted && expectations != nil {
		// Before the reconciliation that this enqueues.
		switch w.role {
		case primary:
			expectations.Forget(e.Object.GetUID())
		case owned:
			expectations.Removed(e.Object)
		case related:
		}
	}
	name := cache.MetaObjectToName(e.Object)
	t.enqueueAll(trigger{cause: causeOf(e.Type, e.InInitialList, e.Resync), source: w.source.name, object: name.String()}, w.keys(e))
}

// ofBothStates returns what f returns for the states before and after an event, each key once.
func ofBothStates[T Object](f func(T) []types.NamespacedName) func(Event[T]) []types.NamespacedName {
	return func(e Event[T]) []types.NamespacedName {
		keys := f(e.Object)
		if e.Type != Updated {
			return keys
		}
		return sets.New(keys...).Insert(f(e.Old)...).UnsortedList()
	}
}

// allOf accepts what all filters accept.
func allOf[T Object](filters []func(T) bool) func(T) bool {
	return func(object T) bool {
		for _, accepts := range filters {
			if !accepts(object) {
				return false
			}
		}
		return true
	}
}

// ownKey is what For enqueues.
func ownKey[T Object](e Event[T]) []types.NamespacedName { return Keys(e.Object) }

// ownerKey returns the function of Owns for owners of a kind.
func ownerKey[T Object](kind schema.GroupKind) func(T) []types.NamespacedName {
	return func(object T) []types.NamespacedName {
		ref := metav1.GetControllerOf(object)
		if ref == nil {
			return nil
		}
		if group, err := schema.ParseGroupVersion(ref.APIVersion); err != nil || group.Group != kind.Group || ref.Kind != kind.Kind {
			return nil
		}
		return []types.NamespacedName{{Namespace: object.GetNamespace(), Name: ref.Name}}
	}
}

// Keys returns the keys of objects, for Triggers and for the functions of Maps and When.
func Keys[T Object](objects ...T) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(objects))
	for _, object := range objects {
		keys = append(keys, cache.MetaObjectToName(object).AsNamespacedName())
	}
	return keys
}

// Index adds an index to the cache of a source, which Lister.ByIndex reads.
func Index[T Object](name string, values func(T) []string) Qualifier {
	return func(s *source) {
		s.indexers[name] = func(obj any) ([]string, error) {
			if object, ok := obj.(T); ok {
				return values(object), nil
			}
			return nil, nil
		}
	}
}

// ByIndex returns the objects that an index finds, see Index. An index that was not added is a mistake of the program, and panics.
func (l Lister[T]) ByIndex(index, value string) []T {
	objects, err := l.indexer().ByIndex(index, value)
	if err != nil {
		panic(fmt.Sprintf("index %s: %v", index, err))
	}
	return typed[T](objects, nil)
}

func typed[T Object](objects []any, accept func(T) bool) []T {
	found := make([]T, 0, len(objects))
	for _, object := range objects {
		if t, ok := object.(T); ok && (accept == nil || accept(t)) {
			found = append(found, t)
		}
	}
	return found
}

// enqueueAll enqueues the objects that an event of a source affects. A resync is not urgent, and many objects must not delay others.
func (t *Triggers) enqueueAll(why trigger, keys []types.NamespacedName) {
	enqueue := t.enqueue
	if why.cause == causeResynced || len(keys) > t.impl.Concurrency {
		enqueue = t.enqueueLater
	}
	for _, key := range keys {
		enqueue(key, why)
	}
}

// enqueue notes the trigger before the key is in the queue, where a worker may take it at once.
func (t *Triggers) enqueue(key types.NamespacedName, why trigger) {
	t.memory.note(key, why)
	t.count(why)
	t.impl.EnqueueKey(key)
}

func (t *Triggers) enqueueLater(key types.NamespacedName, why trigger) {
	t.memory.note(key, why)
	t.count(why)
	t.backlog.Add(key)
}

func (t *Triggers) count(why trigger) { t.kind.Triggered(string(why.cause), why.source) }

func causeOf(t Type, isListed, isResync bool) Cause {
	switch {
	case isResync:
		return causeResynced
	case isListed:
		return causeListed
	case t == Added:
		return causeAdded
	case t == Updated:
		return causeUpdated
	default:
		return causeDeleted
	}
}

// note must be called before the object is put into the queue.
func (m *memory) note(key types.NamespacedName, why trigger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, _ := m.noted.Get(key)
	noted, _ := known.([]trigger)
	if len(noted) < m.triggers && !slices.Contains(noted, why) {
		m.noted.Add(key, append(noted, why))
	}
}

// Add enqueues a key once the queue is short.
func (b *backlog) Add(key types.NamespacedName) {
	b.mu.Lock()
	if !b.waiting.Has(key) {
		b.waiting.Insert(key)
		b.order = append(b.order, key)
	}
	b.mu.Unlock()
	b.Feed()
}
