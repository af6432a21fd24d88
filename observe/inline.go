/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// inline delivers the notifications of an informer to an observer on the informer's goroutine. It remembers nothing and allocates nothing. It implements
// cache.ResourceEventHandler.
type inline[T Object] struct {
	*observer[T]

	mu      sync.Mutex
	calling bool
	stopped bool
}

func (i *inline[T]) OnAdd(added any, listed bool) {
	if object, _, ok := objectOf[T](added, i.mismatched); ok && i.matches(object) {
		i.deliver(Event[T]{Type: Added, Object: object, InInitialList: listed})
	}
}

func (i *inline[T]) OnUpdate(before, after any) {
	old, _, ok := objectOf[T](before, i.mismatched)
	object, _, isObject := objectOf[T](after, i.mismatched)
	if !ok || !isObject {
		return
	}
	matched, matches, isOther := i.matches(old), i.matches(object), old.GetUID() != object.GetUID()
	if matched && matches && !isOther {
		i.deliver(Event[T]{Type: Updated, Object: object, Old: old, Resync: isResync(old, object)})
		return
	}
	if matched {
		i.deliver(Event[T]{Type: Deleted, Object: old, Old: old, FinalStateUnknown: isOther})
	}
	if matches {
		i.deliver(Event[T]{Type: Added, Object: object})
	}
}

func (i *inline[T]) OnDelete(deleted any) {
	if object, unknown, ok := objectOf[T](deleted, i.mismatched); ok && i.matches(object) {
		i.deliver(Event[T]{Type: Deleted, Object: object, Old: object, FinalStateUnknown: unknown})
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

func (i *inline[T]) deliver(event Event[T]) {
	event.Name, event.Folded = cache.MetaObjectToName(event.Object), 1
	// A list that repeats an object is a resync to an informer, too.
	if event.Resync && i.options.Resync == 0 || !i.wants(&event) || !i.setCalling(true) {
		return
	}
	defer i.setCalling(false)
	_ = i.call(i.ctx, event)
}

// setCalling notes that a call begins, unless the observer has stopped, or that it has ended. The calls of an informer are sequential.
func (i *inline[T]) setCalling(calling bool) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calling = calling && !i.stopped
	return i.calling
}

func (i *inline[T]) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = true
}

func (i *inline[T]) running() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.calling {
		return 1
	}
	return 0
}
