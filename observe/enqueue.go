/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"

	"knative.dev/pkg/controller"
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
	own := metric.WithAttributes(attribute.String("source", source))
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

// receiver takes the events of a source.
type receiver[T Object] interface {
	// matches reports whether the receiver takes events of an object.
	matches(object T) bool
	deliver(event Event[T])
	// mismatched takes an object of another type.
	mismatched(notified any)
}

// notifications turns those of an informer into events. It implements cache.ResourceEventHandler.
type notifications[T Object] struct{ receiver[T] }

func (n notifications[T]) OnAdd(added any, listed bool) {
	if object, _, ok := objectOf[T](added, n.mismatched); ok && n.matches(object) {
		n.deliver(Event[T]{Type: Added, Object: object, InInitialList: listed})
	}
}

func (n notifications[T]) OnUpdate(before, after any) {
	old, _, ok := objectOf[T](before, n.mismatched)
	object, _, isObject := objectOf[T](after, n.mismatched)
	if !ok || !isObject {
		return
	}
	matched, matches, isOther := n.matches(old), n.matches(object), old.GetUID() != object.GetUID()
	if matched && matches && !isOther {
		n.deliver(Event[T]{Type: Updated, Object: object, Old: old, Resync: isResync(old, object)})
		return
	}
	if matched {
		n.deliver(Event[T]{Type: Deleted, Object: old, Old: old, FinalStateUnknown: isOther})
	}
	if matches {
		n.deliver(Event[T]{Type: Added, Object: object})
	}
}

func (n notifications[T]) OnDelete(deleted any) {
	if object, unknown, ok := objectOf[T](deleted, n.mismatched); ok && n.matches(object) {
		n.deliver(Event[T]{Type: Deleted, Object: object, Old: object, FinalStateUnknown: unknown})
	}
}

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

func (w watching[T]) matches(object T) bool {
	return !slices.ContainsFunc(w.filters, func(accepts func(T) bool) bool { return !accepts(object) })
}

func (w watching[T]) deliver(e Event[T]) {
	t := w.triggers
	if w.keys == nil {
		controller.EnsureTypeMeta(t.impl.Tracker.OnChanged, w.tracked)(e.Object)
		return
	}
	if e.Type == Deleted && t.guards.Expectations != nil {
		// Before the reconciliation that this enqueues.
		t.guards.Expectations.Removed(e.Object)
	}
	keys, add := w.keys(e), t.impl.EnqueueKey
	if e.Resync || len(keys) > t.impl.Concurrency {
		// A resync is not urgent, and many objects must not delay others.
		add = t.backlog.Add
	}
	name := cache.MetaObjectToName(e.Object)
	t.enqueue(add, trigger{cause: causeOf(e.Type, e.InInitialList, e.Resync), source: w.source.name, object: name.String()}, keys...)
}

func (w watching[T]) mismatched(notified any) {
	logMismatch[T](w.logger, w.triggers.impl.Name, notified)
}

// ofBothStates returns the keys that f returns for the states before and after an event, each key once.
func ofBothStates[T Object](f func(T) []types.NamespacedName) func(Event[T]) []types.NamespacedName {
	return func(e Event[T]) []types.NamespacedName {
		keys := f(e.Object)
		if e.Type != Updated {
			return keys
		}
		return sets.New(keys...).Insert(f(e.Old)...).UnsortedList()
	}
}

func ownKey[T Object](e Event[T]) []types.NamespacedName { return Keys(e.Object) }

// Keys returns the keys of objects, for Triggers and for the functions of Maps and When.
func Keys[T Object](objects ...T) (keys []types.NamespacedName) {
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

// enqueue notes the trigger before the key is in the queue, where a worker may take it at once.
func (t *Triggers) enqueue(add func(types.NamespacedName), why trigger, keys ...types.NamespacedName) {
	for _, key := range keys {
		t.memory.note(key, why)
		t.count(why)
		add(key)
	}
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

// memory holds why objects are in the queue. It may be used by several goroutines.
type memory struct {
	triggers int

	mu sync.Mutex
	// noted has the different triggers since an object's last reconciliation began, of type []trigger.
	noted *lru.Cache
	// planned has the trigger that the last reconciliation left behind, a retry or a requeue, which may be due much later. Events in
	// between lead to separate reconciliations.
	planned *lru.Cache
}

func newMemory(keys, triggers int) *memory {
	return &memory{triggers: triggers, noted: lru.New(keys), planned: lru.New(keys)}
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

// plan notes what a reconciliation that has ended leaves behind.
func (m *memory) plan(key types.NamespacedName, why trigger) { m.planned.Add(key, why) }

// take returns and removes the causes of the reconciliation that begins.
func (m *memory) take(key types.NamespacedName) []trigger {
	m.mu.Lock()
	defer m.mu.Unlock()
	if noted, ok := m.noted.Get(key); ok {
		m.noted.Remove(key)
		return noted.([]trigger) //nolint:forcetypeassert // see note
	}
	if planned, ok := m.planned.Get(key); ok {
		m.planned.Remove(key)
		return []trigger{planned.(trigger)} //nolint:forcetypeassert // see plan
	}
	return []trigger{{cause: causeOther}}
}
