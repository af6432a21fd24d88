/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/logging"
)

// inline delivers the notifications of an informer to an observer on the informer's goroutine. It remembers nothing and allocates nothing. It
// implements cache.ResourceEventHandler.
type inline[T Object] struct {
	*observer[T]

	// mu is held during a call.
	mu      sync.Mutex
	stopped bool
}

// OnAdd implements cache.ResourceEventHandler.
func (i *inline[T]) OnAdd(added any, listed bool) {
	if object, _, ok := i.objectOf(added); ok && i.matches(object) {
		i.deliver(Event[T]{Type: Added, Object: object, InInitialList: listed})
	}
}

// OnUpdate implements cache.ResourceEventHandler.
func (i *inline[T]) OnUpdate(before, after any) {
	old, _, ok := i.objectOf(before)
	object, _, isObject := i.objectOf(after)
	if !ok || !isObject {
		return
	}
	matched, matches := i.matches(old), i.matches(object)
	switch resync := old.GetResourceVersion() == object.GetResourceVersion(); {
	case old.GetUID() != object.GetUID():
		if matched {
			i.deliver(Event[T]{Type: Deleted, Object: old, Old: old, FinalStateUnknown: true})
		}
		if matches {
			i.deliver(Event[T]{Type: Added, Object: object})
		}
	case matched && !matches:
		i.deliver(Event[T]{Type: Deleted, Object: old, Old: old})
	case !matched && matches:
		i.deliver(Event[T]{Type: Added, Object: object})
	case matches && (!resync || i.options.Resync > 0):
		i.deliver(Event[T]{Type: Updated, Object: object, Old: old, Resync: resync})
	}
}

// OnDelete implements cache.ResourceEventHandler.
func (i *inline[T]) OnDelete(deleted any) {
	if object, unknown, ok := i.objectOf(deleted); ok && i.matches(object) {
		i.deliver(Event[T]{Type: Deleted, Object: object, Old: object, FinalStateUnknown: unknown})
	}
}

func (i *inline[T]) deliver(event Event[T]) {
	event.Name, event.Folded = cache.MetaObjectToName(event.Object), 1
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped || !i.wants(&event) {
		return
	}
	if err := i.call(i.ctx, event); resultOf(err) != succeeded {
		logging.FromContext(i.ctx).Errorw("An observer failed, which is not repeated because it is inline", "observer", i.name, "type", event.Type.String(),
			"key", event.Name.String(), "error", err)
	}
}

// stop begins no call any more. It waits for the one that is running.
func (i *inline[T]) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = true
}
