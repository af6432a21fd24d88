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

// inline delivers the notifications of an informer to an observer on the informer's goroutine. It remembers nothing and allocates nothing.
type inline[T Object] struct {
	*observer[T]
	notifications[T]

	// mu is held during a call.
	mu      sync.Mutex
	stopped bool
}

func newInline[T Object](o *observer[T]) *inline[T] {
	i := &inline[T]{observer: o}
	i.notifications = notifications[T]{where: o.matches, deliver: i.deliver, mismatched: o.mismatched}
	return i
}

func (i *inline[T]) deliver(event Event[T]) {
	event.Name, event.Folded = cache.MetaObjectToName(event.Object), 1
	i.mu.Lock()
	defer i.mu.Unlock()
	// A list that repeats an object is a resync to an informer, too.
	if i.stopped || event.Resync && i.options.Resync == 0 || !i.wants(&event) {
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
