/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// inline delivers the notifications of an informer to an observer on the informer's goroutine. It remembers nothing and allocates nothing.
type inline[T Object] struct {
	*observer[T]
	cache.ResourceEventHandler

	mu      sync.Mutex
	calling bool
	stopped bool
}

func newInline[T Object](o *observer[T]) *inline[T] {
	i := &inline[T]{observer: o}
	i.ResourceEventHandler = notifications[T]{i}
	return i
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

func (i *inline[T]) drained() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = i.stopped || !i.calling
	return !i.calling
}

// Events before the call are those of the informer, which drops them when it ends.
func (i *inline[T]) undelivered() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.calling {
		return 1
	}
	return 0
}
