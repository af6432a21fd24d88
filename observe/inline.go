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
	notifications[T]

	mu      sync.Mutex
	calling bool
	stopped bool
}

func newInline[T Object](o *observer[T]) *inline[T] {
	i := &inline[T]{observer: o}
	i.notifications = notifications[T]{where: o.matches, deliver: i.deliver, mismatched: o.mismatched}
	return i
}

func (i *inline[T]) deliver(event Event[T]) {
	event.Name, event.Folded = cache.MetaObjectToName(event.Object), 1
	// A list that repeats an object is a resync to an informer, too.
	if event.Resync && i.options.Resync == 0 || !i.wants(&event) || !i.begin() {
		return
	}
	defer i.end()
	_ = i.call(i.ctx, event)
}

// begin reports whether the observer may be called. The calls of an informer are sequential.
func (i *inline[T]) begin() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calling = !i.stopped
	return i.calling
}

func (i *inline[T]) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calling = false
}

// stop implements station.
func (i *inline[T]) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = true
}

// drained implements station.
func (i *inline[T]) drained() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = i.stopped || !i.calling
	return !i.calling
}

// undelivered implements station. Events before the call are those of the informer, which drops them when it ends.
func (i *inline[T]) undelivered() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.calling {
		return 1
	}
	return 0
}
